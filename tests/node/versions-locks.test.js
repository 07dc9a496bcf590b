/** Locks, semaphores, once() and leaders of tabs of an earlier version and of the present one in one browser. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { open } from 'tabacus';
import { newOrigin } from '../versions/origins.js';
import { besideEachVersion, namespace, sleep } from './both-versions.js';

/** @typedef {import('tabacus').Tab} Tab */

besideEachVersion(({ openEarlier, underSeeds, inBothRoles }) => {
    it('a tab of this version is notified once that a tab of the earlier version uses locks', async () => {
        const origin = await newOrigin({ seed: 1 });
        const [first, second] = [origin.openTab(), origin.openTab()];
        const present = await open({ namespace, window: first.window });
        /** @type {string[]} */
        const warnings = [];
        present.addEventListener('warning', ({ detail }) => void warnings.push(detail.code));
        await present.lock('l').run(() => {});
        const earlier = await openEarlier({ namespace, window: second.window });
        for (const round of [1, 2, 3]) {
            // A tab announces a request that waits.
            const held = present.lock('l').run(() => sleep(first, 50));
            await earlier.lock('l').run(() => round);
            await held;
        }
        await origin.settled();
        assert.deepEqual(warnings, ['older-version']);
        await Promise.all([present.close(), earlier.close()]);
    });

    for (const [exclusion, options] of /** @type {const} */ ([
        ['web-locks', {}],
        ['lease', { url: 'http://shop.example/' }], // an insecure page has no Web Locks
    ])) {
        it(
            `a lock excludes, and its tokens rise (${exclusion})`,
            underSeeds(async ({ tabs, pages }) => {
                let inside = 0;
                /** @type {number[]} */
                const tokens = [];
                const section = async (
                    /** @type {import('tabacus').Held} */ held,
                    /** @type {number} */ at,
                ) => {
                    assert.equal(++inside, 1);
                    tokens.push(Number(held.token));
                    await sleep(pages[at], 3);
                    await held.commit('sums', async (tx) =>
                        tx.put('sums', 'sum', ((await tx.get('sums', 'sum')) ?? 0) + 1),
                    );
                    await sleep(pages[at], 3);
                    --inside;
                };
                for (const tab of tabs) assert.equal(tab.capabilities.exclusion, exclusion);
                const runs = tabs.flatMap((tab, at) =>
                    [1, 2, 3, 4, 5].map(() => tab.lock('l').run((held) => section(held, at))),
                );
                await Promise.all(runs);
                assert.equal(tokens.length, 20);
                for (const [at, token] of tokens.entries())
                    assert.ok(at === 0 || token > Number(tokens[at - 1]));
                const sum = await tabs[1]
                    .lock('l')
                    .run((held) => held.commit('sums', (tx) => tx.get('sums', 'sum')));
                assert.equal(sum, 20);
            }, options),
        );

        it(
            `shared holders are inside together, and never with an exclusive one (${exclusion})`,
            underSeeds(async ({ tabs, pages }) => {
                /** @type {import('tabacus').Held[]} */
                const shared = [];
                for (const tab of tabs)
                    shared.push(await tab.lock('l').acquire({ mode: 'shared', timeout: 60_000 }));
                const refused = await Promise.all(
                    tabs.map((tab) => tab.lock('l').acquire({ ifAvailable: true })),
                );
                assert.deepEqual(refused, [null, null, null, null]);
                for (const held of shared) held.release();
                const inside = { shared: 0, exclusive: 0 };
                const run = (/** @type {number} */ at, /** @type {'shared' | 'exclusive'} */ mode) =>
                    tabs[at]?.lock('l').run(
                        async () => {
                            ++inside[mode];
                            assert.ok(inside.exclusive + Math.min(inside.shared, 1) === 1);
                            await sleep(pages[at], 5);
                            --inside[mode];
                        },
                        { mode },
                    );
                const modes = /** @type {const} */ (['shared', 'exclusive', 'shared']);
                await Promise.all([0, 1, 2, 3].flatMap((at) => modes.map((mode) => run(at, mode))));
            }, options),
        );
    }

    it(
        'a lock whose holder is killed is granted to the other version, with a higher token',
        inBothRoles(async ({ tabs: [first, second], pages }) => {
            const held = await first.lock('l').acquire();
            const next = second.lock('l').acquire();
            pages[0]?.kill();
            assert.ok(Number((await next).token) > Number(held.token));
        }),
    );

    it(
        'a tab whose lock the other version steals loses it and commits nothing afterwards',
        inBothRoles(async ({ tabs: [first, second], origin }) => {
            const held = await first.lock('l').acquire();
            const stolen = await second.lock('l').acquire({ steal: true });
            assert.ok(Number(stolen.token) > Number(held.token));
            const late = held.commit('sums', (tx) => tx.put('sums', 'sum', 'late'));
            await assert.rejects(late, (/** @type {any} */ { code }) =>
                ['lock-lost', 'fenced'].includes(code),
            );
            await origin.settled();
            assert.equal(held.held, false);
            assert.equal(await stolen.commit('sums', (tx) => tx.get('sums', 'sum')), undefined);
        }),
    );

    it(
        'a semaphore grants at most its number of permits, over both versions',
        underSeeds(async ({ tabs, pages }) => {
            let [inside, most] = [0, 0];
            const runs = [...tabs, ...tabs, ...tabs].map((tab, at) =>
                tab.semaphore('s', 2).run(async () => {
                    most = Math.max(most, ++inside);
                    await sleep(pages[at % 4], 5);
                    --inside;
                }),
            );
            await Promise.all(runs);
            assert.equal(most, 2);
        }),
    );

    it(
        'a lock and a semaphore serve the tabs of both versions in the order of their requests',
        underSeeds(async ({ tabs, pages }) => {
            const [first] = tabs;
            // This loads the modules of locks and semaphores.
            for (const tab of tabs) await tab.semaphore('other', 1).run(() => {});
            const held = [
                await first.lock('l').acquire(),
                await first.semaphore('s', 2).acquire(),
                await first.semaphore('s', 2).acquire(),
            ];
            /** @type {{ lock: number[], semaphore: number[] }} */
            const order = { lock: [], semaphore: [] };
            const runs = [];
            for (const at of [3, 1, 0, 2]) {
                runs.push(tabs[at]?.lock('l').run(() => void order.lock.push(at)));
                runs.push(tabs[at]?.semaphore('s', 2).run(() => void order.semaphore.push(at)));
                await sleep(pages[at], 50); // the requests of this tab have arrived
            }
            for (const one of held.slice(0, 2)) one.release(); // one permit remains, so that the order can be seen
            await Promise.all(runs);
            held[2]?.release();
            assert.deepEqual(order, { lock: [3, 1, 0, 2], semaphore: [3, 1, 0, 2] });
        }),
    );

    it(
        'once() runs in one tab, and all get its result',
        underSeeds(async ({ tabs, pages }) => {
            let runs = 0;
            const results = await Promise.all(
                tabs.map((tab, at) =>
                    tab.once(
                        'refresh',
                        async () => {
                            await sleep(pages[at], 5);
                            return new Map([['run', ++runs]]);
                        },
                        { ttl: 60_000 },
                    ),
                ),
            );
            assert.deepEqual(results, new Array(4).fill(new Map([['run', 1]])));
        }),
    );

    it(
        'once() runs in a tab of the other version when its tab is killed',
        inBothRoles(async ({ tabs: [first, second], pages }) => {
            /** @type {string[]} */
            const runs = [];
            await new Promise((begun) => {
                void first.once('refresh', () => {
                    runs.push('first');
                    begun(undefined);
                    return new Promise(() => {});
                });
            });
            const result = second.once('refresh', async () => runs.push('second'));
            await sleep(pages[1], 5);
            assert.deepEqual(runs, ['first']);
            pages[0]?.kill();
            assert.equal(await result, 2);
            assert.deepEqual(runs, ['first', 'second']);
        }),
    );

    it(
        'once() rejects in all tabs with the error of the tab that ran it',
        inBothRoles(async ({ tabs, pages }) => {
            let runs = 0;
            const calls = tabs.map((tab, at) =>
                tab.once('refresh', async () => {
                    ++runs;
                    await sleep(pages[at], 50);
                    throw Object.assign(new RangeError('zu groß'), { code: 'E_SIZE' });
                }),
            );
            const expected = { name: 'RangeError', message: 'zu groß', code: 'E_SIZE' };
            await Promise.all(calls.map((call) => assert.rejects(call, expected)));
            assert.equal(runs, 1);
        }),
    );

    /**
     * Leads with a handler until the tab is closed or killed.
     *
     * @param {Tab} tab
     * @param {(request: any, call: any) => unknown} handler
     */
    const lead = (tab, handler) =>
        void tab
            .leader('l')
            .run((term) => term.answer(handler))
            .catch((error) => assert.ok(['closed', 'lock-lost'].includes(error.code), error));

    it(
        'a leader answers the calls of tabs of the other version, each once',
        inBothRoles(async ({ tabs }) => {
            /** @type {unknown[]} */
            const seen = [];
            lead(tabs[0], (request, call) => {
                seen.push(request);
                if (request === 'bad') throw new RangeError('refused');
                return { request, term: call.term };
            });
            const calls = tabs.flatMap((tab, at) => [0, 1].map((n) => tab.leader('l').call(`${at} ${n}`)));
            const answers = await Promise.all(calls);
            assert.equal(new Set(answers.map(({ term }) => term)).size, 1);
            assert.deepEqual(
                answers.map(({ request }) => request),
                ['0 0', '0 1', '1 0', '1 1', '2 0', '2 1', '3 0', '3 1'],
            );
            assert.equal(seen.length, 8);
            await assert.rejects(tabs[1].leader('l').call('bad'), {
                name: 'RangeError',
                message: 'refused',
            });
            const keyed = await Promise.all(tabs.map((tab) => tab.leader('l').call('k', { key: 'k' })));
            assert.equal(new Set(keyed.map(({ request }) => request)).size, 1);
            assert.equal(seen.filter((request) => request === 'k').length, 1);
        }),
    );

    it(
        'a tab of the other version leads after a leader is killed within a call, and one commit is kept',
        inBothRoles(async ({ tabs: [first, second, third, fourth], pages }) => {
            const add = (/** @type {any} */ call) =>
                call.write('sums', async (/** @type {any} */ tx) =>
                    tx.put('sums', 'sum', ((await tx.get('sums', 'sum')) ?? 0) + 5),
                );
            /** @type {string[]} */
            const ids = [];
            /** @type {Promise<unknown>[]} */
            let calls = [];
            await new Promise((begun) => {
                lead(first, (_, call) => {
                    ids.push(call.id);
                    add(call);
                    begun(undefined);
                    return new Promise(() => {});
                });
                calls = [third.leader('l').call('x'), fourth.leader('l').call('y')];
            });
            lead(second, (request, call) => {
                ids.push(call.id);
                add(call);
                return request;
            });
            pages[0]?.kill();
            assert.deepEqual(await Promise.all(calls), ['x', 'y']);
            assert.equal(ids.length, 3);
            assert.equal(ids[0], ids[1], 'the interrupted call is run again under its id');
            const sum = await third
                .lock('reader')
                .run((held) => held.commit('sums', (tx) => tx.get('sums', 'sum')));
            assert.equal(sum, 10);
        }),
    );
});
