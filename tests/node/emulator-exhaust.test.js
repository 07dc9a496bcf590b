/** Explorations that run every schedule: what they prove, and that they leave out no schedule that matters. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').InvariantContext} InvariantContext */
/** @typedef {NonNullable<Parameters<typeof explore>[1]>} Options */

/** A number of runs that is enough for every scenario below. */
const ENOUGH = 30_000;

/** @type {Scenario} */
const increments = async ({ window: { navigator, localStorage } }) => {
    await navigator.locks.request('n', () =>
        localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
    );
};

/** @param {InvariantContext} context */
const isTwo = ({ origin }) => origin.openTab().window.localStorage.getItem('n') === '2';

/** @type {{ storage: 'interleaved' }} */
const shared = { storage: 'interleaved' };

/** Lets other tasks run in the window, without a timer. @param {any} window */
const turn = (window) =>
    new Promise((resolve) => {
        const { port1, port2 } = new window.MessageChannel();
        port1.onmessage = () => resolve(undefined);
        port2.postMessage(0);
    });

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/** @param {Promise<unknown>} promise */
const outcome = (promise) =>
    promise.then(
        (value) => value ?? 'done',
        (error) => error.name,
    );

/** Opens a database, and makes its store if it is new. @param {any} window @returns {Promise<any>} */
const opened = (window) =>
    new Promise((resolve) => {
        const request = window.indexedDB.open('d', 1);
        request.onupgradeneeded = () => request.result.createObjectStore('s');
        request.onsuccess = () => resolve(request.result);
    });

/** The result of a request of a database. @param {any} request */
const answer = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));

/** @param {any} transaction */
const completed = (transaction) => new Promise((resolve) => (transaction.oncomplete = resolve));

/** Adds 1 to a record, in one transaction. @type {Scenario} */
const addsInDatabase = async ({ window }) => {
    const transaction = (await opened(window)).transaction('s', 'readwrite');
    const store = transaction.objectStore('s');
    const end = completed(transaction);
    store.put(((await answer(store.get('n'))) ?? 0) + 1, 'n');
    await end;
};

/** Adds 1 to a record, which it reads in a transaction of its own. @type {Scenario} */
const losesInDatabase = async ({ window }) => {
    const database = await opened(window);
    const n = (await answer(database.transaction('s').objectStore('s').get('n'))) ?? 0;
    const transaction = database.transaction('s', 'readwrite');
    transaction.objectStore('s').put(n + 1, 'n');
    await completed(transaction);
    return n;
};

/** @param {InvariantContext} context */
const isTwoInDatabase = async ({ origin }) => {
    const database = await opened(origin.openTab().window);
    return (await answer(database.transaction('s').objectStore('s').get('n'))) === 2;
};

/** Small scenarios, each of which ends in several states. @type {Record<string, [Scenario, Options?]>} */
const SCENARIOS = {
    'stale reads': [
        ({ window: { localStorage } }, { index }) => {
            const seen = localStorage.getItem('k');
            if (index === 0) localStorage.setItem('k', '0');
            return seen;
        },
    ],
    'a clear() against a write': [
        ({ window: { localStorage } }, { index }) => {
            if (index === 0) localStorage.clear();
            else localStorage.setItem('k', '1');
            return localStorage.length;
        },
    ],
    'keys that are counted': [
        async ({ window }, { index }) => {
            if (index === 0) window.localStorage.setItem('k', '');
            const before = window.localStorage.length;
            await turn(window);
            return [before, window.localStorage.length];
        },
        shared,
    ],
    'a lock that is stolen, or released before': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            if (index === 1) return outcome(locks.request('l', () => turn(window)));
            await turn(window); // so that the first schedule has the steal before the release
            return locks.request('l', { steal: true }, () => 'stolen');
        },
    ],
    'a lock that is available, or not': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            if (index === 0) return locks.request('l', () => 'held');
            return locks.request('l', { ifAvailable: true }, (/** @type {unknown} */ lock) => lock !== null);
        },
    ],
    'a snapshot of two locks': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            if (index === 0) return locks.request('l', () => 'held');
            const { held, pending } = await locks.query();
            return [held.length, pending.length];
        },
    ],
    'a grant and a message in one tab': [
        async ({ window }, { index }) => {
            if (index === 1) return undefined;
            /** @type {string[]} */
            const order = [];
            await Promise.all([
                window.navigator.locks.request('l', () => order.push('grant')),
                turn(window).then(() => order.push('message')),
            ]);
            return order;
        },
    ],
    'a request that is aborted, or granted before': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            const abort = new window.AbortController();
            const { signal } = abort;
            if (index === 0) return undefined;
            const asked = outcome(locks.request('l', { signal }, () => 'second'));
            await turn(window);
            abort.abort();
            return asked;
        },
    ],
    'a message that a channel misses': [
        async ({ window }, { index }) => {
            const channel = new window.BroadcastChannel('c');
            if (index === 0) return void channel.postMessage('hello');
            return new Promise((resolve) => {
                channel.onmessage = (/** @type {any} */ event) => resolve(event.data);
                sleep(window, 1).then(() => resolve('nothing'));
            });
        },
    ],
    'timers of two tabs': [
        async ({ window }, { index }) => {
            const { localStorage } = window;
            await sleep(window, index === 0 ? 1 : 2);
            localStorage.log = `${localStorage.log ?? ''}${index}`;
            return window.performance.now();
        },
        shared,
    ],
    'a timer that outlives its scenario': [
        ({ window }, { index }) => {
            if (index === 0) window.setTimeout(() => (window.localStorage.late = 'yes'), 3);
            else return turn(window);
            return undefined;
        },
        shared,
    ],
    'a timer that is cancelled, or due before': [
        async ({ window }, { index }) => {
            const { localStorage } = window;
            if (index === 1) return void (localStorage.stop = 'yes');
            const timer = window.setTimeout(() => (localStorage.due = 'yes'), 1);
            await turn(window);
            if (localStorage.stop) window.clearTimeout(timer);
            return sleep(window, 2);
        },
        shared,
    ],
    'the time that a tab reads': [
        async ({ window }, { index }) => {
            if (index === 0) return sleep(window, 5);
            await turn(window);
            return window.performance.now();
        },
    ],
    'a storage event that a listener misses': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            await turn(window);
            let received = 'nothing';
            window.addEventListener('storage', (/** @type {any} */ event) => (received = event.newValue));
            await turn(window);
            return received;
        },
        shared,
    ],
    'a storage event that comes after its listener is removed': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            let received = 'nothing';
            window.onstorage = (/** @type {any} */ event) => (received = event.newValue);
            await turn(window);
            window.onstorage = null;
            await sleep(window, 1);
            return received;
        },
        shared,
    ],
    'transactions of two tabs': [losesInDatabase, shared],
    'a database that one tab deletes': [
        async ({ window }, { index }) => {
            if (index === 1) return (await opened(window)).close();
            await turn(window);
            const known = await window.indexedDB.databases();
            const request = window.indexedDB.deleteDatabase('d');
            await new Promise((resolve) => (request.onsuccess = resolve));
            return known.length;
        },
        shared,
    ],
    'a window that is opened and written to': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            const opened = window.open('', 'pop-up');
            const seen = opened.localStorage.k ?? 'no';
            await turn(window);
            return [seen, opened.localStorage.k ?? 'no'];
        },
        shared,
    ],
};

/**
 * Runs every schedule.
 *
 * @param {Scenario} scenario
 * @param {Options} [options]
 * @returns {Promise<{ states: string[], runs: number }>} the states in which the runs end, and the number of runs
 */
async function statesOf(scenario, options) {
    /** @type {Set<string>} */
    const states = new Set();
    const report = await explore(scenario, {
        ...options,
        seeds: [],
        exhaust: ENOUGH,
        invariant: ({ tabs, results }) => {
            const items = tabs.map(({ window }) => ({ ...window.localStorage }));
            states.add(JSON.stringify({ results, items }));
        },
    });
    assert.deepEqual([report.failure, report.verdict], ['', 'proved'], report.bound);
    return { states: [...states].sort(), runs: Number(/: (\d+) runs?;/.exec(report.bound)?.[1]) };
}

/**
 * Makes the same scenario ask for all tabs, so that the search believes that each step may touch anything.
 *
 * @param {Scenario} scenario
 * @returns {Scenario}
 */
const unreduced = (scenario) => (tab, context) => context.tabs && scenario(tab, context);

describe('the reduction of the schedules', () => {
    for (const [name, [scenario, options]] of Object.entries(SCENARIOS)) {
        it(`the search misses no state: ${name}`, async () => {
            const reduced = await statesOf(scenario, options);
            const all = await statesOf(unreduced(scenario), options);
            assert.deepEqual(reduced.states, all.states);
            assert.ok(all.states.length > 1, `it ends in ${all.states.join(' and ')}`);
            assert.ok(reduced.runs < all.runs, `${reduced.runs} runs, and ${all.runs} without a reduction`);
        });
    }
});

/** @type {Scenario} */
const idle = () => {};

describe('a proof', () => {
    it('a lock around shared storage is proved, and its report says what was run', async () => {
        const options = { ...shared, invariant: isTwo };
        const report = await explore(increments, options);
        assert.deepEqual([report.verdict, report.failure, report.seeds], ['proved', '', 0]);
        assert.match(report.bound, /^every schedule of 2 tabs without faults: \d+ runs; .*seed 1/);
        assert.equal(report.seed, undefined);
        assert.deepEqual(await explore(increments, options), report);
    });

    it('a proof with faults has each number of faults up to the budget', async () => {
        /** @type {Scenario} */
        const scenario = ({ window }) => window.navigator.locks.request('l', { ifAvailable: true }, () => {});
        const report = await explore(scenario, { faults: ['kill'], faultBudget: 2, tabs: 1, exhaust: 1000 });
        assert.equal(report.verdict, 'proved', report.bound);
        assert.match(
            report.bound,
            /^every schedule of 1 tab without faults: 1 run; every .* at most 1 of the faults kill: \d+ runs; every .* at most 2 of/,
        );
        assert.ok(Number(report.faults.kill) > 1);
    });

    it('a schedule that fails is reported with its seed, and repeats', async () => {
        const options = { invariant: isTwo, exhaust: 1000 };
        const report = await explore(increments, options);
        assert.deepEqual(
            [report.verdict, report.failure, report.seed, report.seeds],
            ['broken', 'the invariant does not hold', 1, 0],
        );
        const again = await replay(increments, { seed: 1, schedule: report.schedule ?? [] }, options);
        assert.deepEqual([again.failure, again.trace], [report.failure, report.trace]);
    });

    it('a schedule with a fault that fails repeats', async () => {
        /** @type {Scenario} */
        const marks = async ({ window }) => {
            window.localStorage.begun = 'yes';
            await turn(window);
            window.localStorage.removeItem('begun');
        };
        const options = /** @type {const} */ ({
            ...shared,
            tabs: 1,
            faults: ['kill'],
            exhaust: 1000,
            invariant: (/** @type {InvariantContext} */ { origin }) =>
                origin.openTab().window.localStorage.begun === undefined,
        });
        const report = await explore(marks, options);
        assert.deepEqual([report.verdict, report.faults], ['broken', { kill: 1 }]);
        assert.equal((await replay(marks, report, options)).failure, report.failure);
    });

    it('an invariant that reads the seed is not proved by one seed', async () => {
        const report = await explore(() => {}, { seeds: 40, invariant: ({ seed }) => seed !== 7 });
        assert.deepEqual([report.verdict, report.seed], ['broken', 7]);
    });

    it('the random numbers of a proof are those of the first seed', async () => {
        /** @type {Set<number>} */
        const seeds = new Set();
        /** @type {Scenario} */
        const scenario = (_, { seed }) => void seeds.add(seed);
        const report = await explore(scenario, { seeds: [7, 8], exhaust: 100 });
        assert.match(report.bound, /seed 7$/);
        assert.deepEqual([report.verdict, seeds.has(7), seeds.has(8)], ['proved', true, false]);
    });
});

describe('a proof of a scenario with a database', () => {
    it('a transaction in each of two tabs is proved, and its report says how databases open', async () => {
        const options = { invariant: isTwoInDatabase };
        const report = await explore(addsInDatabase, options);
        assert.deepEqual([report.verdict, report.failure, report.seeds], ['proved', '', 0], report.bound);
        assert.match(report.bound, /: \d+ runs; .*, if a database opens in the step that asks for it$/);
        assert.deepEqual(await explore(addsInDatabase, options), report);
    });

    it('a transaction that reads and another one that writes are broken by a schedule, which repeats', async () => {
        const options = { invariant: isTwoInDatabase };
        const report = await explore(losesInDatabase, options);
        assert.deepEqual([report.verdict, report.seeds], ['broken', 0]);
        const again = await replay(losesInDatabase, report, options);
        assert.deepEqual([again.failure, again.trace], [report.failure, report.trace]);
    });

    it('a proof with a kill has a kill at each step of a transaction', async () => {
        const report = await explore(addsInDatabase, { tabs: 1, faults: ['kill'], exhaust: ENOUGH });
        assert.equal(report.verdict, 'proved', report.bound);
        assert.ok(Number(report.faults.kill) >= 4, report.bound);
    });
});

describe('a proof of what a run rejects', () => {
    it('a rejection that is handled late is no work of the host', async () => {
        /** @type {Scenario} */
        const scenario = async ({ window }) => {
            const rejected = Promise.reject(new Error('late'));
            await turn(window);
            await turn(window);
            return outcome(rejected);
        };
        const report = await explore(scenario, { ...shared, exhaust: ENOUGH });
        assert.equal(report.verdict, 'proved', report.bound);
        assert.deepEqual(await explore(scenario, { ...shared, exhaust: ENOUGH }), report);
    });
});

describe('an exploration that proves nothing', () => {
    it('runs seeds if `exhaust` is 0, or if its seeds are a list', async () => {
        for (const options of [{ seeds: 30, exhaust: 0 }, { seeds: [1, 2, 3] }]) {
            const report = await explore(idle, options);
            assert.equal(report.verdict, 'unbroken within the bound');
            assert.ok(report.seeds >= 3);
            assert.doesNotMatch(report.bound, /every schedule/);
        }
    });

    it('runs seeds if it knows that the runs are not enough, and says so', async () => {
        const report = await explore(increments, { ...shared, seeds: 20, exhaust: 5 });
        assert.deepEqual([report.verdict, report.seeds], ['unbroken within the bound', 20]);
        assert.match(
            report.bound,
            /^20 seeds; not every schedule of 2 tabs without faults: they take more than 5 runs$/,
        );
    });

    it('runs seeds if a run is longer than the bound on steps', async () => {
        const report = await explore(
            async ({ window }) => {
                for (let at = 0; at < 50; ++at) await turn(window);
            },
            { tabs: 1, seeds: 1, steps: 45, exhaust: 100 },
        );
        assert.match(report.failure, /does not come to rest/);
        assert.equal(report.seeds, 1);
    });

    it('runs seeds if the scenario depends on more than its schedule', async () => {
        let calls = 0;
        const report = await explore(
            async ({ window }) => {
                if (++calls % 4 > 1) await turn(window); // in another tab in the next run
            },
            { seeds: 3, exhaust: 1000 },
        );
        assert.deepEqual([report.verdict, report.seeds], ['unbroken within the bound', 3]);
    });

    it('refuses a number of runs that is none', async () => {
        for (const exhaust of [-1, 1.5, 1e6 + 1, '5', NaN]) {
            await assert.rejects(explore(idle, /** @type {any} */ ({ exhaust })), {
                code: 'invalid-argument',
                argument: 'exhaust',
            });
        }
    });
});
