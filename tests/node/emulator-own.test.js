/**
 * tabacus itself in scenarios of explore(): equal explorations are equal, however fast the host is. A thread that
 * never rests makes the host slow.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it, mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import { open } from 'tabacus';
import { createOrigin, explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Tab} EmulatedTab */
/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {Parameters<typeof explore>[1]} ExploreOptions */

/** @type {Worker | undefined} */
let burning;
before(() => {
    burning = new Worker('for (;;);', { eval: true });
});
after(() => burning?.terminate());

/** The errors by which a call reports that a fault has ended it. */
const faultCodes = ['lock-lost', 'store-failed'];

/**
 * Makes a scenario in which each tab opens tabacus. A call that a fault has ended does not fail it.
 *
 * @param {(ours: Tab, tab: EmulatedTab, index: number) => unknown} use
 * @param {import('tabacus').OpenOptions} [options]
 * @returns {import('tabacus/emulator').Scenario}
 */
const opening =
    (use, options) =>
    async (tab, { index }) => {
        try {
            return await use(await open({ ...options, window: tab.window }), tab, index);
        } catch (error) {
            if (faultCodes.includes(/** @type {any} */ (error).code)) return undefined;
            throw error;
        }
    };

/** @param {any} window @param {string} key */
function increment(window, key) {
    window.localStorage.setItem(key, `${Number(window.localStorage.getItem(key)) + 1}`);
}

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/**
 * The scenarios, each with the number of its seeds.
 * @type {Record<string, { scenario: import('tabacus/emulator').Scenario, seeds: number, options?: ExploreOptions }>}
 */
const scenarios = {
    'a counter': {
        seeds: 60,
        scenario: opening(async (ours) => {
            const counter = ours.counter('n');
            counter.add(1);
            await counter.flush();
            return counter.value;
        }),
        options: {
            invariant: async ({ origin, results }) => {
                const ours = await open({ window: origin.openTab().window });
                const total = await ours.counter('n').read();
                await ours.close();
                return Number(total) >= results.filter((one) => one !== undefined).length;
            },
        },
    },
    'lock.run()': {
        seeds: 60,
        scenario: opening(async (ours, { window }) => {
            await ours.lock('l').run(async () => {
                await sleep(window, 5);
                increment(window, 'n');
            });
            return true;
        }),
        options: {
            storage: 'interleaved',
            invariant: ({ origin, results }) =>
                Number(origin.openTab().window.localStorage.getItem('n')) >= results.filter(Boolean).length,
        },
    },
    'once()': {
        seeds: 40,
        scenario: opening((ours, { window }) =>
            ours.once('k', async () => {
                await sleep(window, 5);
                return 'value';
            }),
        ),
        options: { invariant: ({ results }) => results.every((one) => one === undefined || one === 'value') },
    },
    'a queue': {
        seeds: 30,
        scenario: opening(async (ours, _, index) => {
            const queue = ours.queue('jobs');
            queue.handle(() => index);
            await queue.enqueue(index);
            await queue.onIdle();
            await ours.close();
            return true;
        }),
    },
    'acquire(), a leader, limits and strategies': {
        seeds: 15,
        scenario: opening(async (ours, { window }) => {
            const held = await ours.lock('l').acquire();
            await sleep(window, 5);
            held.release();
            await ours.leader('x').run(() => sleep(window, 5));
            await ours.rateLimit('r', { limit: 1, interval: 1000 }).take();
            for (const strategy of /** @type {const} */ (['transactional', 'log', 'lamport']))
                await ours.counter(strategy, { strategy }).add(1);
            const bought = await ours.budget('b', { limit: 3 }).tryTake(2);
            return { number: await ours.sequence('s', { gapless: true }).next(), bought };
        }),
        options: {
            invariant: ({ results }) => {
                const all = /** @type {any[]} */ (results.filter(Boolean));
                const numbers = new Set(all.map(({ number }) => number));
                return numbers.size === all.length && all.filter(({ bought }) => bought).length <= 1;
            },
        },
    },
    'all together, loaded ahead': {
        seeds: 10,
        scenario: opening(
            async (ours, _, index) => {
                const queue = ours.queue('jobs');
                queue.handle(() => {});
                await ours.lock('l').run(() => queue.enqueue(index));
                ours.counter('n').add(1);
                await ours.once('k', () => index);
                await queue.onIdle();
                await ours.close();
            },
            { preload: ['locks', 'leader', 'queue'] },
        ),
    },
};

/** @param {keyof typeof scenarios} name @param {ExploreOptions} [more] */
async function exploredTwice(name, more) {
    const { scenario, seeds, options } = /** @type {typeof scenarios[string]} */ (scenarios[name]);
    const one = await explore(scenario, { seeds, ...options, ...more });
    assert.equal(one.verdict, 'unbroken within the bound', `${one.failure}\n${one.trace}`);
    assert.deepEqual(await explore(scenario, { seeds, ...options, ...more }), one);
}

/** A lock that is stolen does not protect an increment: one is lost. @type {import('tabacus/emulator').Scenario} */
const stealing = async ({ window }, { index }) => {
    const ours = await open({ window });
    const use = async () => {
        const before = Number(window.localStorage.getItem('n'));
        await new Promise((resolve) => window.setTimeout(resolve, 10));
        window.localStorage.setItem('n', `${before + 1}`);
    };
    const loss = await ours
        .lock('l')
        .run(use, { steal: index === 1 })
        .catch((/** @type {any} */ error) => error);
    if (loss && index === 1) throw loss;
    if (loss) throw new Error('an increment is lost');
};

/** Removes the source lines from a trace, since the other process has the scenario in another file. @param {string} [trace] */
const withoutLines = (trace) => trace?.replaceAll(/ \([^()\n]*:\d+\)/g, '');

describe('tabacus in scenarios of explore()', { timeout: 240_000 }, () => {
    for (const name of Object.keys(scenarios))
        it(`${name}: two explorations in a row are equal`, () => exploredTwice(name));

    it('explorations with faults are equal', async () => {
        for (const name of ['lock.run()', 'once()'])
            await exploredTwice(name, { seeds: 12, faults: ['kill', 'freeze', 'throttle'] });
        await exploredTwice('a queue', { seeds: 8, faults: ['kill', 'freeze'] });
    });

    it('a failure replays here and in another process', async () => {
        const options = /** @type {const} */ ({ storage: 'interleaved' });
        const report = await explore(stealing, { seeds: 60, ...options });
        assert.match(report.failure, /an increment is lost/);
        const { seed, schedule, failure } = report;
        assert.equal((await replay(stealing, report, options)).failure, failure);
        const program = `
            import { open } from 'tabacus';
            import { replay } from 'tabacus/emulator';
            const { failure, hash, trace } = await replay(
                ${stealing}, ${JSON.stringify({ seed, schedule })}, ${JSON.stringify(options)});
            console.log(JSON.stringify({ failure, trace }));`;
        const there = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
            encoding: 'utf8',
        });
        const again = JSON.parse(there);
        assert.equal(again.failure, failure);
        assert.equal(withoutLines(again.trace), withoutLines(report.trace));
    });

    it('the time that the host takes does not change how far a database has opened', async () => {
        /** @param {number} tasks of the host */
        const exploredWith = (tasks) =>
            explore(
                async ({ window }, { origin }) => {
                    const request = window.indexedDB.open('d', 1);
                    const opened = new Promise((resolve) => (request.onsuccess = resolve));
                    const wait = async () => {
                        for (let left = tasks; left > 0; --left)
                            await new Promise((resolve) => void setImmediate(resolve));
                    };
                    await origin.track(wait());
                    window.localStorage.setItem('k', 'v');
                    await opened;
                    window.localStorage.setItem('k', 'w');
                },
                { seeds: 20 },
            );
        assert.deepEqual(await exploredWith(0), await exploredWith(40));
    });

    it('a tab that waits by timers for a frozen one is no endless run', async () => {
        const report = await explore(
            async ({ window }) => {
                const { locks } = window.navigator;
                const attempt = () =>
                    locks.request('l', { ifAvailable: true }, async (/** @type {unknown} */ lock) => {
                        if (lock) await sleep(window, 5);
                        return Boolean(lock);
                    });
                while (!(await attempt())) await sleep(window, 1000);
            },
            { seeds: 20, faults: ['freeze'], steps: 4000 },
        );
        assert.equal(report.failure, '');
        assert.ok(Number(report.faults['freeze']) > 0);
    });

    it('closing a queue uses the timers of its window alone', async () => {
        const origin = await createOrigin({ seed: 1 });
        const ours = await open({ window: origin.openTab().window });
        await ours.queue('jobs').enqueue(1);
        const { mock: host } = mock.method(globalThis, 'setTimeout');
        await ours.close();
        host.restore();
        assert.equal(host.callCount(), 0);
        origin.close();
    });
});
