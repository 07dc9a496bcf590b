/** tabacus itself in the tabs of an emulated origin: open({ window: tab.window }). */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';

/** @param {number} seed @param {(origin: import('tabacus/emulator').Origin, ours: import('tabacus').Tab[]) => Promise<void>} play */
async function inThreeTabs(seed, play) {
    const origin = await createOrigin({ seed });
    const opened = [origin.openTab(), origin.openTab(), origin.openTab()];
    const ours = await Promise.all(opened.map((tab) => open({ window: tab.window })));
    await play(origin, ours);
    await Promise.all(ours.map((tab, at) => opened[at]?.closed || tab.close()));
    origin.close();
}

describe('open({ window: tab.window })', { timeout: 120_000 }, () => {
    it('open() finds every part of the platform in the window of a tab', () =>
        inThreeTabs(1, async (_, [ours]) => {
            const { store, exclusion, channel, mirror } = ours?.capabilities ?? {};
            assert.deepEqual([store, exclusion, channel, mirror], ['indexeddb', 'web-locks', true, true]);
        }));

    it('a replicated counter has every flushed increment, whichever tab dies', async () => {
        for (let seed = 1; seed <= 5; ++seed) {
            await inThreeTabs(seed, async (origin, ours) => {
                const counters = ours.map((tab) => tab.counter('n'));
                for (let round = 0; round < 3; ++round) {
                    for (const counter of counters) counter.add(1);
                    await Promise.all(counters.map((counter) => counter.flush()));
                }
                origin.tabs[0]?.kill();
                counters[1]?.add(1);
                await counters[1]?.flush();
                assert.equal(await counters[2]?.read(), 10);
            });
        }
    });

    it('transactional and optimistic counters are exact, and a naive one loses updates under some seed', async () => {
        /** @param {any} strategy @param {number} seed */
        const lost = async (strategy, seed) => {
            let missing = 0;
            await inThreeTabs(seed, async (origin, ours) => {
                const counters = ours.map((tab) => tab.counter('n', { strategy }));
                for (let at = 0; at < 3; ++at) await Promise.all(counters.map((counter) => counter.add(1)));
                await origin.settled();
                missing = 9 - Number(await counters[0]?.read());
            });
            return missing;
        };
        for (const strategy of ['transactional', 'optimistic'])
            assert.equal(await lost(strategy, 3), 0, strategy);
        const naive = [await lost('naive', 1), await lost('naive', 2), await lost('naive', 3)];
        assert.ok(
            naive.some((missing) => missing > 0),
            `${naive}`,
        );
    });

    it('a lock is granted over tabs in the order of the requests', async () => {
        for (let seed = 1; seed <= 3; ++seed) {
            await inThreeTabs(seed, async (origin, ours) => {
                for (const tab of ours) await tab.lock('l').run(() => {}); // this loads its module
                const held = await ours[0]?.lock('l').acquire();
                /** @type {number[]} */
                const order = [];
                const runs = [];
                for (let at = 0; at < 9; ++at) {
                    runs.push(ours[at % 3]?.lock('l').run(() => void order.push(at)));
                    await new Promise((resolve) => origin.tabs[0]?.window.setTimeout(resolve, 15));
                }
                held?.release();
                await Promise.all(runs);
                assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
            });
        }
    });

    it('a page that is restored from the back/forward cache sees the state of its queues', () =>
        inThreeTabs(4, async (origin, [ours, other]) => {
            const [away, queue] = [origin.tabs[0], other?.queue('q')];
            const seen = ours?.queue('q');
            await seen?.enqueue(1);
            assert.equal(await away?.bfcache(), true);
            await queue?.pause();
            await queue?.enqueue(2);
            /** @type {Promise<import('tabacus').QueueState>} */
            const changed = new Promise((resolve) =>
                seen?.subscribe((state) => state.paused && resolve(state)),
            );
            away?.thaw();
            const { type, size, paused } = await changed;
            assert.deepEqual([type, size, paused, seen?.size], ['state', 2, true, 2]);
        }));

    it('locks exclude, their tokens rise, and the lock of a dead holder is granted to the next request', () =>
        inThreeTabs(7, async (origin, ours) => {
            let inside = 0;
            /** @type {bigint[]} */
            const tokens = [];
            await Promise.all(
                ours.map((tab) =>
                    tab.lock('l').run(async (held) => {
                        assert.equal(++inside, 1);
                        tokens.push(BigInt(/** @type {any} */ (held).token));
                        await Promise.resolve();
                        --inside;
                    }),
                ),
            );
            assert.deepEqual(
                tokens,
                [...tokens].sort((a, b) => Number(a - b)),
            );
            assert.equal(new Set(tokens).size, 3);
            await ours[0]?.lock('dead').acquire();
            origin.tabs[0]?.kill();
            assert.equal(await ours[1]?.lock('dead').run(() => 'mine'), 'mine');
        }));

    it('once() runs in one tab, and all tabs get its result', () =>
        inThreeTabs(9, async (_, ours) => {
            let runs = 0;
            // A tab whose module is loaded last may call once() after the other calls have ended.
            const refresh = (/** @type {any} */ tab) =>
                tab.once('refresh', async () => ++runs, { ttl: 60_000 });
            const results = await Promise.all(ours.map(refresh));
            assert.deepEqual(results, [1, 1, 1]);
        }));
});
