/**
 * The present version opens the data that each earlier version has stored (tests/versions/data-*.json)
 * without loss.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { open } from 'tabacus';
import { names, queueOptions, start_ms, strategies } from '../versions/fixture-names.js';
import { newOrigin } from '../versions/origins.js';
import { decode, readSiteData, writeSiteData } from '../versions/site-data.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Origin} Origin */

const folder = new URL('../versions/', import.meta.url);
const fixtures = readdirSync(folder)
    .filter((file) => /^data-.*\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

const hour_ms = 3_600_000;

/**
 * Opens two tabs of the present version in a browser that has stored the fixture, uses them, and fails if one of them
 * emits `warning` or `storelost`.
 *
 * @param {any} fixture
 * @param {(tabs: [Tab, Tab], origin: Origin) => Promise<void>} use
 */
async function withFixture(fixture, use) {
    const origin = await newOrigin({ seed: 2 });
    origin.setClock(fixture.clock_ms + 1000);
    const pages = [origin.openTab(), origin.openTab()];
    await writeSiteData(pages[0]?.window, fixture);
    await origin.settled();
    const opened = await Promise.all(pages.map(({ window }) => open({ namespace: names.namespace, window })));
    const tabs = /** @type {[Tab, Tab]} */ (opened);
    /** @type {unknown[]} */
    const events = [];
    for (const tab of tabs) {
        tab.addEventListener('warning', ({ detail }) => events.push(detail));
        tab.addEventListener('storelost', ({ detail }) => events.push(detail));
    }
    await use(tabs, origin);
    await origin.settled();
    await Promise.all(tabs.map((tab) => tab.close()));
    assert.deepEqual(events, []);
}

/** @param {Tab} tab @param {keyof typeof queueOptions} name */
const queueOf = (tab, name) => tab.queue(names[name], queueOptions[name]);

/** Reads a value that an earlier version has committed under a lock. @param {Tab} tab @param {string} key */
const fenced = (tab, key) =>
    tab.lock('reader').run((held) => held.commit(names.carts, (tx) => tx.get(names.carts, key)));

for (const fixture of fixtures) {
    const { version, written } = fixture;
    const trial = (/** @type {(tabs: [Tab, Tab], origin: Origin) => Promise<void>} */ use) => () =>
        withFixture(fixture, use);

    describe(`data that ${version} has stored`, { timeout: 120_000 }, () => {
        it('the data are stored exactly as the fixture has them before a tab opens them', async () => {
            const origin = await newOrigin({ seed: 2 });
            const { window } = origin.openTab();
            await writeSiteData(window, fixture);
            const { localStorage, databases } = fixture;
            assert.deepEqual(await readSiteData(window), { localStorage, databases });
        });

        it(
            'replicated counters, relaxed and strict, have the totals of all tabs, and count on',
            trial(async ([a, b]) => {
                assert.equal(await a.counter(names.visits).read(), written.visits);
                assert.equal(await b.counter(names.stock, { durability: 'strict' }).read(), written.stock);
                for (const tab of [a, b]) {
                    tab.counter(names.visits).add(1000);
                    await tab.counter(names.visits).flush();
                }
                assert.equal(await a.counter(names.visits).read(), written.visits + 2000);
                assert.equal(await b.counter(names.visits).read(), written.visits + 2000);
            }),
        );

        it('replicated counters are restored from localStorage where the database is gone', async () => {
            const origin = await newOrigin({ seed: 2 });
            const { window } = origin.openTab();
            await writeSiteData(window, { ...fixture, databases: [] });
            await origin.settled();
            const tab = await open({ namespace: names.namespace, window });
            assert.equal(await tab.counter(names.visits).read(), written.visits);
            assert.equal(await tab.counter(names.stock).read(), written.stock);
            /** @type {import('tabacus').StoreLostDetail} */
            const lost = await new Promise((resolve) =>
                tab.addEventListener('storelost', ({ detail }) => resolve(detail)),
            );
            assert.ok(lost.healed > 0, `${lost.healed}`);
            await tab.close();
        });

        for (const strategy of strategies) {
            it(
                `a counter of the strategy ${strategy} has its total, and counts on`,
                trial(async (tabs, origin) => {
                    const options = strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy };
                    const counters = tabs.map((tab) => tab.counter(names.catalogue, options));
                    for (const counter of counters)
                        assert.equal(await counter.read(), written.catalogue, strategy);
                    for (const counter of counters) {
                        await counter.add(1000);
                        await counter.flush();
                        await origin.settled();
                    }
                    for (const counter of counters)
                        assert.equal(await counter.read(), written.catalogue + 2000, strategy);
                }),
            );
        }

        it(
            'a counter whose records were folded in part has its total',
            trial(async ([a, b]) => {
                assert.equal(await a.counter(names.folded, { strategy: 'log' }).read(), written.folded.log);
                const deltas = b.counter(names.folded, { strategy: 'deltas', threshold: 0 });
                assert.equal(await deltas.read(), written.folded.deltas);
            }),
        );

        it(
            'tokens of locks and semaphores rise above the stored ones',
            trial(async ([a, b]) => {
                const token = (/** @type {Tab} */ tab, /** @type {string} */ name) =>
                    tab.lock(name).run((held) => Number(held.token));
                assert.ok((await token(a, names.cart)) > written.cartToken);
                assert.ok((await token(b, names.heldAtDeath)) > written.heldAtDeathToken);
                const permit = (/** @type {Tab} */ tab) => tab.semaphore(names.semaphore, 2).acquire();
                const permits = await Promise.all([permit(a), permit(b)]);
                // The tokens of each permit rise, but a tab may be granted either of the two permits.
                const [least, most] = permits.map((held) => Number(held.token)).sort((one, two) => one - two);
                const [former, latter] = written.semaphoreTokens;
                assert.ok(
                    Number(least) > Math.min(former, latter) && Number(most) > Math.max(former, latter),
                );
                for (const held of permits) held.release();
            }),
        );

        it(
            'values that were committed under a lock are read, and written under the next token',
            trial(async ([a, b]) => {
                assert.deepEqual(await fenced(a, names.mine), ['Stück 0', 'Stück 1', 'Stück 2']);
                assert.deepEqual(await fenced(b, names.shapes), {
                    map: new Map([['größe', 42n]]),
                    day: new Date(start_ms),
                    bytes: new Uint8Array([1, 2, 255]),
                });
                assert.equal(await fenced(b, names.atDeath), 'committed before the tab died');
                await a
                    .lock(names.cart)
                    .run((held) =>
                        held.commit(names.carts, (tx) => tx.put(names.carts, names.mine, ['neu'])),
                    );
                assert.deepEqual(await fenced(b, names.mine), ['neu']);
            }),
        );

        it(
            'a result of once() is used while it is fresh, and made again when it is too old',
            trial(async ([a, b]) => {
                const unused = async () => assert.fail('the stored result is fresh');
                const answer = decode(written.once);
                assert.deepEqual(await a.once(names.once, unused, { ttl: Infinity }), answer);
                assert.deepEqual(await b.once(names.once, unused, { ttl: hour_ms }), answer);
                assert.equal(await b.once(names.once, async () => 'neu', { ttl: 0 }), 'neu');
            }),
        );

        it(
            'a leader answers an open call once, and an answered call keeps its answer',
            trial(async ([a, b]) => {
                /** @type {string[]} */
                const orders = [];
                /** @type {Promise<void>} */
                let leading = Promise.resolve();
                let term = 0;
                let handOver = () => {};
                await new Promise((answered) => {
                    leading = a.leader(names.leader).run((current) => {
                        term = current.number;
                        handOver = () => current.handOver();
                        return current.answer((request, call) => {
                            answered(undefined); // no tab makes this call again
                            orders.push(request.order);
                            return { paid: request.order, term: call.term };
                        });
                    });
                });
                const call = (/** @type {string} */ order) =>
                    b.leader(names.leader).call({ order }, { key: order });
                assert.deepEqual(await call(names.answered), written.answer);
                assert.deepEqual(await call(names.open), { paid: names.open, term });
                assert.deepEqual(orders, [names.open]);
                assert.ok(term > written.term);
                handOver();
                await leading;
            }),
        );

        it(
            'a sequence gives no number again, and a gapless one leaves none out',
            trial(async ([a, b]) => {
                const given = [];
                for (const tab of [a, b, a])
                    given.push(await tab.sequence(names.sequence, { block: 10 }).next());
                const all = [...written.numbers, ...given];
                assert.equal(new Set(all).size, all.length, `${all}`);
                const gapless = [];
                for (const tab of [a, b])
                    gapless.push(await tab.sequence(names.gapless, { gapless: true }).next());
                const last = Math.max(...written.gapless);
                assert.deepEqual(gapless, [last + 1, last + 2]);
            }),
        );

        it(
            'a budget has the amount that was not taken, and no more',
            trial(async ([a, b]) => {
                const [here, there] = [a, b].map((tab) => tab.budget(names.budget, { limit: 100 }));
                const rest = 100 - written.taken;
                assert.equal(await here?.tryTake(rest + 1), false);
                assert.equal(await here?.tryTake(rest - 1), true);
                assert.equal(await there?.tryTake(), true);
                assert.equal(await there?.tryTake(), false);
                await there?.give(written.taken);
                assert.equal(await here?.tryTake(written.taken), true);
            }),
        );

        it(
            'a rate limit grants the next call an interval after the last ones',
            trial(async ([a], origin) => {
                const rate = a.rateLimit(names.rate, { limit: 3, interval: hour_ms });
                assert.equal(await rate.tryTake(), false);
                await rate.take();
                const now_ms = origin.tabs[0]?.window.Date.now();
                assert.ok(now_ms >= start_ms + hour_ms, `${now_ms - start_ms}`);
            }),
        );

        it(
            'every waiting job runs once, in its order, with its options',
            trial(async ([a, b]) => {
                const waiting = await queueOf(a, 'work').jobs();
                assert.deepEqual(
                    waiting.map(({ payload, state }) => [payload, state]),
                    [
                        [{ page: 2 }, 'queued'],
                        ['Bündel 1', 'queued'],
                        ['Bündel 2', 'queued'],
                        ['Bündel 3', 'queued'],
                        [new Map([['seite', 3n]]), 'queued'],
                        ['at most once', 'queued'],
                        ['optional', 'queued'],
                        ['delayed', 'delayed'],
                    ],
                );
                /** @type {any[]} */
                const ran = [];
                for (const tab of [a, b])
                    queueOf(tab, 'work').handle(
                        ({ payload, key, kind, attempt, lostWorkers }) =>
                            void ran.push({ payload, key, kind, attempt, lostWorkers }),
                    );
                await queueOf(b, 'work').onIdle();
                assert.deepEqual(
                    ran.map(({ payload }) => payload),
                    waiting.map(({ payload }) => payload),
                );
                for (const { attempt, lostWorkers } of ran) assert.deepEqual([attempt, lostWorkers], [1, 0]);
                assert.equal(ran[0].key, 'Schlüssel/1');
                assert.equal(ran[4].kind, 'Art');
                assert.deepEqual(await queueOf(a, 'work').jobs(), []);
            }),
        );

        it(
            'a dead letter has its error, and runs when it is retried',
            trial(async ([a, b]) => {
                const letters = await queueOf(a, 'work').deadLetters();
                assert.equal(letters.length, 1);
                const [letter] = /** @type {[import('tabacus').DeadLetter]} */ (letters);
                const { payload, key, attempt, error } = letter;
                assert.deepEqual([payload, key, attempt], ['fails', names.deadKey, 2]);
                assert.ok(error instanceof RangeError && error.message === 'zu groß', `${error}`);
                assert.equal(await letter.retry(), true);
                /** @type {unknown[]} */
                const ran = [];
                queueOf(b, 'work').handle(({ payload }) => void ran.push(payload));
                await queueOf(a, 'work').onIdle();
                assert.equal(ran.filter((one) => one === 'fails').length, 1);
                assert.deepEqual(await queueOf(a, 'work').deadLetters(), []);
            }),
        );

        it(
            'a paused queue runs nothing until it is resumed',
            trial(async ([a, b], origin) => {
                /** @type {Promise<import('tabacus').QueueState>} */
                const state = new Promise((resolve) => queueOf(a, 'paused').subscribe(resolve));
                assert.equal((await state).paused, true);
                /** @type {unknown[]} */
                const ran = [];
                queueOf(a, 'paused').handle(({ payload }) => void ran.push(payload));
                await new Promise((resolve) => origin.tabs[0]?.window.setTimeout(resolve, hour_ms));
                assert.deepEqual(ran, []);
                await queueOf(b, 'paused').resume();
                await queueOf(b, 'paused').onIdle();
                assert.deepEqual(ran, ['waits for resume()']);
            }),
        );

        it(
            'a job that ran when its tab was killed runs again with a count of one lost worker',
            trial(async ([a]) => {
                /** @type {unknown[]} */
                const ran = [];
                queueOf(a, 'lost').handle(
                    ({ payload, attempt, lostWorkers }) => void ran.push([payload, attempt, lostWorkers]),
                );
                await queueOf(a, 'lost').onIdle();
                assert.deepEqual(ran, [['runs when its tab is killed', 1, 1]]);
            }),
        );
    });
}
