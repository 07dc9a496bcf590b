/**
 * Tabs of an earlier version (tests/versions/tabacus-*.tgz, as `npm pack` wrote it) and of the present one in one
 * browser: what they share is counted, granted and run once.
 */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { open } from 'tabacus';
import { strategies } from '../versions/fixture-names.js';
import { newOrigin } from '../versions/origins.js';
import { loadPackedVersion } from '../versions/packed-version.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Origin} Origin */
/** @typedef {import('tabacus/emulator').Tab} Page */

/**
 * Four tabs: those at 0 and 2 are of the earlier version, those at 1 and 3 of the present one.
 *
 * @typedef {[Tab, Tab, Tab, Tab]} Tabs
 */

/**
 * @typedef {object} Browser
 * @property {Tabs} tabs
 * @property {Page[]} pages theirs
 * @property {Origin} origin
 */

const folder = new URL('../versions/', import.meta.url);
const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
const earlier = await Promise.all(tarballs.map((file) => loadPackedVersion(new URL(file, folder))));

const namespace = 'shop';

/** Time of the emulated browser. @param {Page | undefined} page @param {number} ms */
const sleep = (page, ms) => new Promise((resolve) => page?.window.setTimeout(resolve, ms));

/** The strategies that are exact whatever tabs do at once (docs/guarantees.md); others lose updates by design. */
const exact = ['replicated', 'transactional', 'optimistic', 'deltas', 'batched'];
/** The strategies that are exact only if each turn of the event loop sees what others wrote to localStorage. */
const exactIfMutexed = ['locked', 'log', 'lamport', 'eventual'];

/** @param {string} strategy @returns {any} */
const counterOptions = (strategy) => (strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy });

for (const { version, url, open: openEarlier } of earlier) {
    // On an isolated page 0.1.0 counts by a build of its own, which shares memory.
    const isolated = version === '0.1.0' ? { build: /** @type {any} */ ('threads') } : {};

    /**
     * Opens the tabs in the order of their numbers, uses them, and expects no `warning` and no `storelost`.
     *
     * @param {number} seed
     * @param {(browser: Browser) => Promise<void>} use
     * @param {object} [options] of the origin
     */
    async function withBothVersions(seed, use, options = {}) {
        const origin = await newOrigin({ seed, ...options });
        const pages = [0, 1, 2, 3].map(() => origin.openTab());
        /** @type {Tab[]} */
        const opened = [];
        /** @type {unknown[]} */
        const events = [];
        for (const [at, { window }] of pages.entries()) {
            const build = at === 2 ? isolated : {};
            const tab = await (at % 2 === 0 ? openEarlier : open)({ ...build, namespace, window });
            tab.addEventListener('warning', ({ detail }) => events.push(detail));
            tab.addEventListener('storelost', ({ detail }) => events.push(detail));
            opened.push(tab);
        }
        await use({ origin, pages, tabs: /** @type {Tabs} */ (opened) });
        await origin.settled();
        await Promise.all(opened.map((tab, at) => pages[at]?.closed || tab.close()));
        assert.deepEqual(events, []);
    }

    /** @param {(browser: Browser, seed: number) => Promise<void>} use @param {object} [options] */
    const underSeeds = (use, options) => async () => {
        for (const seed of [1, 2, 3]) await withBothVersions(seed, (browser) => use(browser, seed), options);
    };

    /**
     * Twice: once with a tab of the earlier version in the first place, and once with one of the present.
     *
     * @param {(browser: Browser) => Promise<void>} use is given the tabs in the order that it shall use them
     */
    const inBothRoles = (use) => async () => {
        for (const seed of [1, 2]) {
            await withBothVersions(seed, (browser) => {
                if (seed === 1) return use(browser);
                const { tabs, pages } = browser;
                const [a, b, c, d] = tabs;
                return use({
                    ...browser,
                    pages: [1, 0, 3, 2].flatMap((at) => pages[at] ?? []),
                    tabs: [b, a, d, c],
                });
            });
        }
    };

    describe(`tabs of ${version} and of the present version together`, { timeout: 120_000 }, () => {
        it('come from different folders, and are of different classes', () =>
            withBothVersions(1, async ({ tabs: [old, present] }) => {
                assert.ok(!url.startsWith(new URL('../../', import.meta.url).href), url);
                assert.notEqual(old.constructor, present.constructor);
            }));

        for (const strategy of [...exact, ...exactIfMutexed]) {
            const storage = exact.includes(strategy) ? 'cached' : 'mutexed';
            it(
                `count by the strategy ${strategy} exactly, at once, and with a tab that dies`,
                underSeeds(
                    async ({ tabs, pages }) => {
                        const counters = tabs.map((tab) => tab.counter('n', counterOptions(strategy)));
                        for (let round = 0; round < 3; ++round) {
                            await Promise.all(counters.map((counter, at) => counter.add(10 ** at)));
                            await Promise.all(counters.map((counter) => counter.flush()));
                        }
                        pages[0]?.kill();
                        pages[1]?.kill();
                        const left = counters.slice(2);
                        for (const counter of left) assert.equal(await counter.read(), 3333);
                        for (const counter of left) {
                            await counter.add(10_000);
                            await counter.flush();
                        }
                        for (const counter of left) assert.equal(await counter.read(), 23_333);
                    },
                    { storage },
                ),
            );
        }

        it('count by every strategy exactly, one after another', () =>
            withBothVersions(1, async ({ tabs, origin }) => {
                for (const strategy of strategies) {
                    let sum = 0;
                    for (const tab of [...tabs, ...tabs]) {
                        const counter = tab.counter('n', counterOptions(strategy));
                        await counter.add(7);
                        await counter.flush();
                        await origin.settled();
                        assert.equal(await counter.read(), (sum += 7), strategy);
                    }
                }
            }));

        it(
            'see one another’s increments without asking the store',
            inBothRoles(async ({ tabs, pages }) => {
                const counters = tabs.map((tab) => tab.counter('n'));
                await Promise.all(counters.map((counter) => counter.read()));
                counters[0]?.add(5);
                await counters[0]?.flush();
                await sleep(pages[0], 100);
                assert.deepEqual(
                    counters.map(({ value }) => value),
                    [5, 5, 5, 5],
                );
            }),
        );

        it('go on above the backup of the other version where the database is lost', async () => {
            for (const [openWriter, openReader] of [
                [openEarlier, open],
                [open, openEarlier],
            ]) {
                const origin = await newOrigin({ seed: 1 });
                const start_ms = 1.8e12;
                const tokenOf = (/** @type {Tab | undefined} */ tab) =>
                    tab?.lock('l').run((held) => Number(held.token));
                // Tokens follow the clock, so it goes back by a day lest it hide a backup that is not read.
                origin.setClock(start_ms);
                const page = origin.openTab();
                const writer = await openWriter?.({ namespace, window: page.window });
                writer?.counter('n').add(5);
                await writer?.counter('n').flush();
                const token = Number(await tokenOf(writer));
                assert.equal(await writer?.sequence('s').next(), 1);
                await origin.settled();
                page.kill();
                origin.loseDatabase();
                origin.setClock(start_ms - 86_400_000);
                const reader = await openReader?.({ namespace, window: origin.openTab().window });
                assert.equal(await reader?.counter('n').read(), 5);
                assert.ok(Number(await tokenOf(reader)) > token);
                assert.ok(Number(await reader?.sequence('s').next()) > 1);
                /** @type {import('tabacus').StoreLostDetail} */
                const lost = await new Promise((resolve) =>
                    reader?.addEventListener('storelost', ({ detail }) => resolve(detail)),
                );
                assert.equal(lost.healed, 1);
            }
        });

        it('merge the state of a counter of the other version', () =>
            withBothVersions(1, async ({ tabs: [old, present] }) => {
                old.counter('n').add(3);
                await old.counter('n').flush();
                const elsewhere = await newOrigin({ seed: 100 });
                const opened = { namespace, window: elsewhere.openTab().window };
                for (const [openOther, own] of /** @type {const} */ ([
                    [openEarlier, present],
                    [open, old],
                ])) {
                    const other = await openOther(opened);
                    const before = await other.counter('n').read();
                    await other.counter('n').merge(await own.counter('n').state());
                    assert.equal(await other.counter('n').read(), 3, `${before}`);
                    await other.close();
                }
            }));

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
            'a lock that is stolen is lost to the other version, which commits nothing any more',
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
            'a semaphore has as many permits as were agreed, over both versions',
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
                // What locks and semaphores need is loaded.
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
                    await sleep(pages[at], 50); // its requests have arrived
                }
                for (const one of held.slice(0, 2)) one.release(); // one permit is left, so that there is an order
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
            'once() fails in all tabs with the error that it threw in one',
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
         * @param {Tab} tab leads until it is closed or killed
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
                const calls = tabs.flatMap((tab, at) =>
                    [0, 1].map((n) => tab.leader('l').call(`${at} ${n}`)),
                );
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
            'a leader that is killed within a call is followed by the other version, and one commit is kept',
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
                assert.equal(ids[0], ids[1], 'the call that was cut off is run again under its id');
                const sum = await third
                    .lock('reader')
                    .run((held) => held.commit('sums', (tx) => tx.get('sums', 'sum')));
                assert.equal(sum, 10);
            }),
        );

        it(
            'sequences give out no number twice, and one without gaps leaves none out',
            underSeeds(async ({ tabs }) => {
                const [blocks, gapless] = await Promise.all(
                    [{ block: 3 }, { gapless: true }].map((options) =>
                        Promise.all(
                            [...tabs, ...tabs, ...tabs, ...tabs].map((tab) =>
                                tab.sequence(JSON.stringify(options), options).next(),
                            ),
                        ),
                    ),
                );
                assert.equal(new Set(blocks).size, 16);
                assert.deepEqual(
                    gapless?.sort((a, b) => a - b),
                    Array.from({ length: 16 }, (_, at) => at + 1),
                );
            }),
        );

        it(
            'a budget is spent to the last, and not beyond it',
            underSeeds(async ({ tabs }) => {
                let taken = 0;
                const takeAll = async (/** @type {Tab} */ tab) => {
                    while (await tab.budget('b', { limit: 60 }).tryTake()) ++taken;
                };
                await Promise.all(tabs.map(takeAll));
                assert.equal(taken, 60);
                await tabs[0].budget('b', { limit: 60 }).give(2);
                await takeAll(tabs[1]);
                await tabs[1].budget('b', { limit: 60 }).give(1);
                await takeAll(tabs[2]);
                assert.equal(taken, 63);
            }),
        );

        it(
            'a budget’s rights that a tab of one version holds beforehand go to the other when it is short',
            inBothRoles(async ({ tabs: [first, second] }) => {
                const budget = (/** @type {Tab} */ tab) => tab.budget('b', { limit: 100 });
                let taken = 0;
                await second.sequence('other').next(); // what limits need is loaded
                // From the 17th of a burst on a tab takes more rights out of the budget than it spends.
                while (taken < 40 && (await budget(first).tryTake())) ++taken;
                assert.equal(taken, 40);
                assert.equal(await budget(second).tryTake(60), true);
                assert.equal(await budget(first).tryTake(), false);
            }),
        );

        it(
            'a rate limit holds over both versions',
            underSeeds(async ({ tabs, pages }) => {
                const rate = (/** @type {Tab} */ tab) => tab.rateLimit('r', { limit: 3, interval: 1000 });
                /** @type {number[]} */
                const at_ms = [];
                await Promise.all(
                    [...tabs, ...tabs, ...tabs].map(async (tab) => {
                        await rate(tab).take();
                        at_ms.push(pages[3]?.window.performance.now());
                    }),
                );
                assert.equal(at_ms.length, 12);
                for (let at = 3; at < 12; ++at)
                    assert.ok(Number(at_ms[at]) - Number(at_ms[at - 3]) >= 1000, `${at_ms}`);
            }),
        );

        it(
            'a rate limit asks a tab of the other version for the time, and not the wall clock',
            inBothRoles(async ({ tabs: [first, second], origin, pages }) => {
                const rate = (/** @type {Tab} */ tab) => tab.rateLimit('r', { limit: 1, interval: 60_000 });
                await rate(first).take();
                origin.setClock(pages[0]?.window.Date.now() + 86_400_000);
                assert.equal(await rate(second).tryTake(), false);
            }),
        );

        it(
            'jobs that both versions enqueue and handle run once each, and each result reaches its tab',
            underSeeds(async ({ tabs, pages }) => {
                /** @type {Map<string, string>} */
                const ran = new Map();
                const queue = (/** @type {Tab} */ tab) => tab.queue('q', { concurrency: 2 });
                // By kinds, since a tab that handles all of them may keep the slots and do all the work.
                const versions = ['earlier', 'present'];
                for (const [at, tab] of tabs.entries()) {
                    queue(tab).handle(String(versions[at % 2]), async ({ payload, kind }) => {
                        assert.ok(!ran.has(payload.job), payload.job);
                        ran.set(payload.job, kind);
                        await sleep(pages[at], 15);
                        return new Map([[payload.job, payload.bytes]]);
                    });
                }
                const jobs = tabs.flatMap((tab, at) =>
                    [0, 1, 2, 3, 4, 5].map(async (n) => {
                        const job = `${at} ${n}`;
                        const bytes = n < 3 ? new Uint8Array([at, n]) : undefined; // else its payload is JSON
                        const { result } = await queue(tab).enqueue(
                            { job, ...(bytes && { bytes }) },
                            { kind: versions[n % 2] },
                        );
                        assert.deepEqual(await result, new Map([[job, bytes]]));
                    }),
                );
                await Promise.all(jobs);
                const kinds = [...ran.values()];
                assert.deepEqual(
                    versions.map((version) => kinds.filter((kind) => kind === version).length),
                    [12, 12],
                );
            }),
        );

        it(
            'jobs go on in the other version when a tab is killed in their midst, and none is lost',
            inBothRoles(async ({ tabs: [first, second, third, fourth], pages }) => {
                /** @type {[job: number, lostWorkers: number][]} */
                const ran = [];
                const cutOff = new Promise((resolve) => {
                    first.queue('q').handle(async ({ payload, lostWorkers }) => {
                        ran.push([payload, lostWorkers]);
                        if (payload !== 2) return payload;
                        resolve(undefined);
                        return new Promise(() => {});
                    });
                });
                const receipts = [];
                for (const job of [0, 1, 2, 3, 4, 5])
                    receipts.push(await (job % 2 === 0 ? third : fourth).queue('q').enqueue(job));
                await cutOff;
                await Promise.all(receipts.slice(0, 2).map(({ result }) => result)); // they are settled
                const before = ran.length;
                second.queue('q').handle(async ({ payload, lostWorkers }) => {
                    ran.push([payload, lostWorkers]);
                    return payload;
                });
                pages[0]?.kill();
                assert.deepEqual(await Promise.all(receipts.map(({ result }) => result)), [0, 1, 2, 3, 4, 5]);
                assert.deepEqual(
                    ran.slice(0, before).map(([job]) => job),
                    [0, 1, 2],
                );
                const again = ran.slice(before);
                assert.deepEqual(again[0], [2, 1]);
                assert.deepEqual(
                    again.map(([job]) => job),
                    [2, 3, 4, 5],
                );
            }),
        );

        it(
            'a job whose tab is killed is run by the other version; at most once it becomes a dead letter',
            inBothRoles(async ({ tabs: [first, second, third], pages }) => {
                for (const delivery of /** @type {const} */ (['at-least-once', 'at-most-once'])) {
                    const queue = (/** @type {Tab} */ tab) => tab.queue(delivery, { delivery });
                    /** @type {unknown[]} */
                    const ran = [];
                    const begun = new Promise((resolve) => {
                        queue(first).handle(({ payload }) => {
                            resolve(payload);
                            return new Promise(() => {});
                        });
                    });
                    await queue(third).enqueue('cut off');
                    assert.equal(await begun, 'cut off');
                    queue(second).handle(({ payload, lostWorkers }) => void ran.push([payload, lostWorkers]));
                    if (delivery === 'at-least-once') {
                        const [former] = await queue(second).jobs();
                        assert.equal(former?.state, 'running');
                    }
                    await queue(third).enqueue('after it');
                    if (delivery === 'at-least-once') continue;
                    pages[0]?.kill();
                    await queue(second).onIdle();
                    assert.deepEqual(ran, [['after it', 0]]);
                    const [letter] = await queue(third).deadLetters();
                    assert.equal(letter?.payload, 'cut off');
                    assert.equal(/** @type {any} */ (letter)?.error?.code, 'lost-worker');
                    await second.queue('at-least-once', { delivery: 'at-least-once' }).onIdle();
                }
            }),
        );

        it(
            'a subscriber of one version receives what happens to a queue in the other',
            inBothRoles(async ({ tabs: [first, second], pages }) => {
                /** @type {import('tabacus').QueueState[]} */
                const states = [];
                await second.queue('q').jobs(); // what queues need is loaded
                second.queue('q').subscribe((state) => void states.push(state));
                first.queue('q').handle(async ({ payload, progress }) => {
                    progress(0.5, 'halb');
                    await sleep(pages[0], 50);
                    if (payload === 'fails') throw new RangeError('zu groß');
                });
                const enqueue = (/** @type {unknown} */ payload, /** @type {object} */ options) =>
                    first.queue('q').enqueue(payload, options);
                await (
                    await enqueue('succeeds', { key: 'k', kind: 'Art' })
                ).result;
                await assert.rejects((await enqueue('fails', { optional: true })).result, RangeError);
                await first.queue('q').pause();
                await enqueue('waits', { key: 'gone' });
                await first.queue('q').cancel('gone');
                await first.queue('q').resume();
                await sleep(pages[1], 1000);
                const types = new Set(states.map(({ type }) => String(type)));
                for (const type of [
                    ...['state', 'queued', 'running', 'progress', 'done'],
                    ...['failed', 'paused', 'cancelled', 'resumed'],
                ])
                    assert.ok(types.has(type), `${type} is not in ${[...types]}`);
                const of = (/** @type {string} */ one) =>
                    /** @type {any} */ (states.find(({ type }) => type === one));
                const { key, kind, fraction, note } = of('progress');
                assert.deepEqual([key, kind, fraction, note], ['k', 'Art', 0.5, 'halb']);
                assert.equal(of('failed').error.message, 'zu groß');
            }),
        );

        it(
            'a queue that one version pauses runs nothing in the other; keys join, and cancel() removes',
            inBothRoles(async ({ tabs: [first, second, third, fourth], pages, origin }) => {
                await first.queue('q').pause();
                await origin.settled();
                /** @type {unknown[]} */
                const ran = [];
                second.queue('q').handle(({ payload }) => void ran.push(payload));
                const former = await third.queue('q').enqueue('former', { key: 'k' });
                const latter = await fourth.queue('q').enqueue('latter', { key: 'k' });
                assert.deepEqual([former.joined, latter.joined, latter.id], [false, true, former.id]);
                const gone = await third.queue('q').enqueue('gone', { key: 'cancelled' });
                const cancelled = assert.rejects(gone.result, { name: 'AbortError' });
                assert.equal(await fourth.queue('q').cancel('cancelled'), true);
                await cancelled;
                await third.queue('q').enqueue('delayed', { delay: 5000 });
                await sleep(pages[0], 60_000);
                assert.deepEqual(ran, []);
                await fourth.queue('q').resume();
                await Promise.all([former.result, latter.result, first.queue('q').onIdle()]);
                assert.deepEqual(ran, ['latter', 'delayed']);
            }),
        );
    });
}
