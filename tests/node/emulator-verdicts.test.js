/** The verdicts of explorations: which failures count, and what happens if the host works for a scenario. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').InvariantContext} InvariantContext */

/** Waits in the time of a tab. @param {any} window @param {number} delay_ms */
const passes = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/** The timers of the host that were begun. @type {Set<any>} */
const timers = new Set();

/** Waits in the time of the host. @param {number} delay_ms */
const hostTimer = (delay_ms) => new Promise((resolve) => timers.add(setTimeout(resolve, delay_ms)));

after(() => timers.forEach(clearTimeout));

/** @param {Scenario} scenario @param {object} [options] */
const verdictOf = async (scenario, options) => {
    const { verdict, failure } = await explore(scenario, { seeds: 5, ...options });
    return [verdict, failure];
};

const unbroken = ['unbroken within the bound', ''];

/** Each tab appends its number to a list, under a lock. @type {Scenario} */
const appends = async ({ number, window: { navigator, localStorage } }) => {
    await navigator.locks.request('list', () =>
        localStorage.setItem('list', `${localStorage.getItem('list') ?? ''}${number}`),
    );
};

describe('a reported failure', () => {
    it('a failure is shrunk to a simpler run with the same kind and the same first sentence, and replays to it', async () => {
        const found = new Map();
        for (let seed = 1; seed <= 8; ++seed) {
            /** @type {string[]} */
            const verdicts = [];
            const invariant = (/** @type {InvariantContext} */ { origin }) => {
                const list = origin.openTab().window.localStorage.getItem('list');
                const text =
                    list === '123'
                        ? ''
                        : list === '321'
                          ? `the last is first. ${list}`
                          : `out of order. ${list}`;
                verdicts.push(text);
                return text;
            };
            const options = { tabs: 3, storage: /** @type {const} */ ('mutexed'), invariant, seeds: [seed] };
            const report = await explore(appends, options);
            const first = verdicts.find((text) => text !== '') ?? '';
            assert.equal(report.failure.split('. ')[0], first.split('. ')[0]);
            if (first === '') continue;
            found.set(first.split('. ')[0], seed);
            assert.equal((await replay(appends, report, options)).failure, report.failure);
        }
        assert.deepEqual([...found.keys()].sort(), ['out of order', 'the last is first']);
    });

    it('a reported schedule replays to the same failure in another process', async () => {
        const scenario = `navigator.locks.request('l', () => {
            if (localStorage.getItem('k')) throw new Error('seen');
            localStorage.setItem('k', 'v');
        })`;
        const { seed, schedule, failure } = await explore(scenario, { storage: 'mutexed' });
        const script = `import { replay } from 'tabacus/emulator';
            const [scenario, found] = ${JSON.stringify([scenario, { seed, schedule }])};
            console.log((await replay(scenario, found, { storage: 'mutexed' })).failure);`;
        const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
        assert.deepEqual([stdout.trim(), failure], [failure, 'tab 2: Error: seen']);
    });

    it('a failure that does not repeat is inconclusive, and the other seeds are run', async () => {
        let runs = 0;
        const once = await explore(() => void assert.notEqual(++runs, 9, 'the ninth'), {
            seeds: 20,
            exhaust: 0,
        });
        assert.deepEqual([once.verdict, once.seeds], ['inconclusive', 20]);
        assert.match(
            once.failure,
            /a run failed, and did not fail again when it was repeated: tab [12]: .*the ninth/,
        );
        runs = 0;
        const [verdict, failure] = await verdictOf(
            async ({ number, window }) => {
                assert.notEqual(++runs, 9, 'the ninth');
                await passes(window, 1);
                if (number === 2) window.localStorage.setItem('k', 'v');
                else assert.equal(window.localStorage.getItem('k'), null);
            },
            { seeds: 100, storage: 'mutexed' },
        );
        assert.deepEqual([verdict, failure?.slice(0, 6)], ['broken', 'tab 1:']);
    });
});

describe('a rejection that nothing handles', () => {
    it('a rejection in a tab, a frame or a worker is the failure of its run, and ends no process', async () => {
        const floating = ['broken', 'uncaught (in promise): Error: floating'];
        assert.deepEqual(await verdictOf(() => void Promise.reject(new Error('floating'))), floating);
        assert.deepEqual(
            await verdictOf(async ({ window }) => {
                void passes(window, 5).then(() => Promise.reject(new Error('floating')));
                await passes(window, 50);
            }),
            floating,
        );
        assert.deepEqual(
            await verdictOf(async () => {
                void hostTimer(1).then(() => Promise.reject(new Error('floating')));
                await hostTimer(5);
            }),
            floating,
        );
        const script = 'Promise.reject(new Error("floating"))';
        assert.deepEqual(await verdictOf((tab) => void tab.openWorker(`${script};0`)), floating);
        assert.deepEqual(
            await verdictOf(
                (tab) =>
                    void tab
                        .openFrame()
                        .run(script)
                        .catch(() => {}),
            ),
            unbroken,
        );
        assert.deepEqual(await verdictOf((tab) => void tab.openFrame().run(`${script};0`)), floating);
        assert.deepEqual(
            await verdictOf(() => {}, { invariant: () => void Promise.reject(new Error('floating')) }),
            floating,
        );
    });

    it('a replay of a rejection has the same failure', async () => {
        /** @type {Scenario} */
        const scenario = async ({ window }) => {
            const seen = window.localStorage.getItem('k');
            window.localStorage.setItem('k', 'v');
            if (seen) void Promise.reject(new Error('second'));
        };
        const report = await explore(scenario, { storage: 'mutexed' });
        assert.equal((await replay(scenario, report, { storage: 'mutexed' })).failure, report.failure);
    });

    it('a rejection that is handled later, or that the window cancels, is no failure', async () => {
        assert.deepEqual(
            await verdictOf(async ({ window }) => {
                const rejected = Promise.reject(new Error('late'));
                await passes(window, 5);
                await rejected.catch(() => {});
            }),
            unbroken,
        );
        /** @type {Scenario} */
        const cancels = async ({ window }) => {
            const notes = /** @type {unknown[]} */ ([]);
            const promise = Promise.reject(new Error('cancelled'));
            window.addEventListener('unhandledrejection', (/** @type {any} */ event) => {
                event.preventDefault();
                notes.push(event.constructor.name, event.promise === promise, event.reason.message);
            });
            window.onrejectionhandled = (/** @type {any} */ event) =>
                notes.push(event.type, event.cancelable);
            await passes(window, 5);
            promise.catch(() => {});
            await passes(window, 5);
            return notes;
        };
        const invariant = (/** @type {InvariantContext} */ { results }) =>
            results.every(
                (notes) => `${notes}` === 'PromiseRejectionEvent,true,cancelled,rejectionhandled,false',
            );
        assert.deepEqual(await verdictOf(cancels, { invariant }), unbroken);
    });

    it('a rejection in the code of a dead tab is no failure', async () => {
        /** @type {Scenario} */
        const dies = async (tab) => {
            if (tab.number === 1) tab.kill();
            await Promise.resolve();
            if (tab.closed) void Promise.reject(new Error('of the dead'));
        };
        assert.deepEqual(await verdictOf(dies), unbroken);
        assert.deepEqual(
            await verdictOf(
                async ({ window }) => {
                    const request = window.indexedDB.open('d');
                    await new Promise((resolve, reject) => {
                        request.onsuccess = resolve;
                        request.onerror = reject;
                    });
                    void window.navigator.locks.request('l', () => passes(window, 5));
                    await passes(window, 20);
                },
                { seeds: 40, faults: ['kill', 'browser-crash'], faultBudget: 2 },
            ),
            unbroken,
        );
    });

    it('explorations that run at the same time keep their rejections apart, and those of the host go to its listeners', async () => {
        const others = process.listeners('unhandledRejection');
        /** @type {unknown[]} */
        const seen = [];
        process.removeAllListeners('unhandledRejection');
        process.on('unhandledRejection', (reason) => seen.push(/** @type {Error} */ (reason).message));
        /** @type {(rejects: boolean) => Scenario} */
        const scenario =
            (rejects) =>
            async ({ window }) => {
                for (let at = 0; at < 5; ++at) await passes(window, 5);
                if (rejects) void Promise.reject(new Error('of a tab'));
            };
        const both = Promise.all([
            verdictOf(scenario(true)),
            verdictOf(scenario(false), { seeds: 50, exhaust: 0 }),
        ]);
        setImmediate(() => void Promise.reject(new Error('of the host')));
        assert.deepEqual(await both, [['broken', 'uncaught (in promise): Error: of a tab'], unbroken]);
        await hostTimer(1);
        process.removeAllListeners('unhandledRejection');
        for (const other of others) process.on('unhandledRejection', other);
        assert.deepEqual(seen, ['of the host']);
    });
});

describe('a run that stands still', () => {
    it('a deadlock, and a message that never comes, are broken', async () => {
        const waits = ['broken', 'tab 1 and tab 2 wait for ever'];
        assert.deepEqual(
            await verdictOf(async ({ window: { navigator } }, { index }) => {
                const [first, second] = index === 0 ? ['a', 'b'] : ['b', 'a'];
                await navigator.locks.request(first, () => navigator.locks.request(second, () => {}));
            }),
            waits,
        );
        assert.deepEqual(
            await verdictOf(
                ({ window }) =>
                    new Promise((resolve) => (new window.BroadcastChannel('n').onmessage = resolve)),
            ),
            waits,
        );
    });

    it('a run that waits for untracked work of the host is inconclusive, and its report says for what', async () => {
        const report = await explore(() => hostTimer(1e7), { tabs: 1, seeds: 3 });
        const waitsFor = 'tab 1 waits for a timer of the host';
        assert.deepEqual([report.verdict, report.seeds, report.seed], ['inconclusive', 3, 1]);
        assert.match(report.waitsFor ?? '', new RegExp(`^${waitsFor} \\(emulator-verdicts.test.js:\\d+\\)$`));
        assert.equal(report.failure, `inconclusive: ${report.waitsFor}`);
        assert.match(report.trace ?? '', /tab 1/);
        const again = await replay(() => hostTimer(1e7), report, { tabs: 1 });
        assert.equal(again.verdict, 'inconclusive');
    });

    it('a run goes on when the host has done its work, and time does not pass meanwhile', async () => {
        assert.deepEqual(await verdictOf(() => hostTimer(5)), unbroken);
        assert.deepEqual(
            await verdictOf(({ window }) =>
                Promise.race([
                    readFile(new URL(import.meta.url)),
                    passes(window, 1000).then(() => Promise.reject(new Error('too late'))),
                ]),
            ),
            unbroken,
        );
        const run = { seed: 1, schedule: [] };
        assert.equal((await replay(() => {}, run, { invariant: () => hostTimer(1100) })).failure, '');
    });

    it('a broken seed has precedence over an inconclusive one', async () => {
        const report = await explore(
            async ({ window }, { seed }) => {
                await window.navigator.locks.request('l', () => passes(window, 1));
                if (seed === 4) throw new Error('the fourth');
                if (seed === 2) await hostTimer(1e7);
            },
            { tabs: 1, seeds: 6 },
        );
        assert.deepEqual(
            [report.verdict, report.seed, report.failure],
            ['broken', 4, 'tab 1: Error: the fourth'],
        );
        assert.equal(report.waitsFor, undefined);
    });

    it('equal explorations that wait for the host have equal reports', async () => {
        /** @type {Scenario} */
        const scenario = async ({ window, number }) => {
            await readFile(new URL(import.meta.url));
            window.localStorage.setItem('k', `${number}`);
            await hostTimer(1);
            await passes(window, 10);
        };
        const options = { seeds: 20, invariant: () => true };
        assert.deepEqual(await explore(scenario, options), await explore(scenario, options));
    });
});
