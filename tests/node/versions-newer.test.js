/**
 * Tabs of a later version beside tabs of this one: rows that the later one has stored in its format are left alone, and
 * calls that need them fail with `version-mismatch`.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mismatch, namespace, openPresent, openRaised } from './later-version.js';
import { newOrigin } from '../versions/origins.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Origin} Origin */

/** @param {any} window @param {number} [version] @returns {Promise<any>} */
const openDatabase = (window, version) =>
    new Promise((resolve, reject) => {
        const request = window.indexedDB.open(`tabacus/${namespace}`, version);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/**
 * Calls `visit` with each object store of the database, its keys and its values.
 *
 * @param {Origin} origin
 * @param {(store: any, keys: string[], values: any[]) => void} visit
 */
async function visitStores(origin, visit) {
    const connection = await openDatabase(origin.openTab().window);
    for (const name of connection.objectStoreNames) {
        const transaction = connection.transaction(name, 'readwrite');
        const store = transaction.objectStore(name);
        const [keys, values] = [store.getAllKeys(), store.getAll()];
        values.onsuccess = () => visit(store, keys.result, values.result);
        await new Promise((resolve) => (transaction.oncomplete = resolve));
    }
    connection.close();
}

/** Returns what is stored, by the name of the store and the key. @param {Origin} origin */
async function stored(origin) {
    /** @type {Record<string, unknown>} */
    const all = {};
    const { localStorage } = origin.openTab().window;
    for (let at = 0; at < localStorage.length; ++at) {
        const key = localStorage.key(at);
        all[`localStorage ${key}`] = localStorage.getItem(String(key));
    }
    await visitStores(origin, (store, keys, values) => {
        for (const [at, key] of keys.entries()) all[`${store.name} ${key}`] = values[at];
    });
    return all;
}

/** Replaces the version of all records and of the names of holders. @param {Origin} origin @param {string} version */
const rewriteVersions = (origin, version) =>
    visitStores(origin, (store, keys, values) => {
        for (const [at, key] of keys.entries()) {
            if (store.name === 'claims') store.delete(key);
            const value = values[at];
            const changed = typeof value === 'string' ? value.replace(/^1;/, version) : value;
            store.put(changed, store.name === 'claims' ? key.replace(/^1;/, version) : key);
        }
    });

/** What remains of the rows of the later version. @param {Record<string, unknown>} rows */
const raisedRows = (rows) =>
    Object.fromEntries(
        Object.entries(rows).filter((row) => row.some((text) => /(^| )2;/.test(String(text)))),
    );

/** Runs with one tab of each version, of which the later one has stored something. */
async function afterRaised(
    /** @type {(raised: Tab) => Promise<unknown>} */ store,
    /** @type {(browser: { tab: Tab, origin: Origin, warnings: string[] }) => Promise<void>} */ use,
) {
    const origin = await newOrigin({ seed: 1 });
    const later = await openRaised(origin);
    await store(later.tab);
    await later.tab.close();
    await origin.settled();
    const before = raisedRows(await stored(origin));
    assert.notDeepEqual(before, {});
    const { tab, warnings } = await openPresent(origin);
    await use({ tab, origin, warnings });
    await tab.close().catch(() => {});
    const after = raisedRows(await stored(origin));
    assert.deepEqual(after, before);
    assert.deepEqual(warnings, ['version-mismatch']);
    return origin;
}

describe('rows that a later version has stored are left alone', { timeout: 120_000 }, () => {
    it('a counter: its slot is not adopted, and increments count in another one', async () => {
        const origin = await afterRaised(
            async (raised) => {
                raised.counter('n').add(101);
                await raised.counter('n').flush();
            },
            async ({ tab }) => {
                tab.counter('n').add(5);
                await tab.counter('n').flush();
                await assert.rejects(tab.counter('n').read(), mismatch);
                await assert.rejects(tab.counter('n').state(), mismatch);
                tab.counter('other').add(1);
                await tab.counter('other').flush();
                assert.equal(await tab.counter('other').read(), 1);
            },
        );
        const later = await openRaised(origin);
        assert.equal(await later.tab.counter('n').read(), 106);
        later.tab.counter('n').add(1);
        await later.tab.counter('n').flush();
        assert.equal(await later.tab.counter('n').read(), 107);
    });

    it('a counter whose database is lost: totals that only the backup of the later version has are restored', async () => {
        const origin = await newOrigin({ seed: 1 });
        const writer = await openRaised(origin);
        writer.tab.counter('n').add(101);
        await writer.tab.counter('n').flush();
        await origin.settled();
        writer.page.kill();
        origin.loseDatabase();
        const { tab, warnings } = await openPresent(origin);
        tab.counter('n').add(5);
        await tab.counter('n').flush();
        await assert.rejects(tab.counter('n').read(), mismatch);
        await origin.settled();
        assert.deepEqual(warnings.sort(), ['storelost', 'version-mismatch']);
        const later = await openRaised(origin);
        assert.equal(await later.tab.counter('n').read(), 106);
        await tab.close();
        assert.equal(await later.tab.counter('n').read(), 106);
    });

    for (const strategy of /** @type {const} */ (['optimistic', 'deltas', 'batched'])) {
        it(`a counter of the strategy ${strategy}`, async () => {
            const options = /** @type {any} */ ({ strategy });
            await afterRaised(
                async (raised) => {
                    const counter = /** @type {any} */ (raised).counter('n', options);
                    await counter.add(7);
                    await counter.flush();
                },
                async ({ tab }) => {
                    const counter = /** @type {any} */ (tab).counter('n', options);
                    await assert.rejects(counter.read(), mismatch);
                },
            );
        });
    }

    it('a counter of the strategy log, whose entries are in localStorage', async () => {
        const origin = await newOrigin({ seed: 1, storage: 'mutexed' });
        const later = await openRaised(origin);
        const log = (/** @type {Tab} */ tab) => tab.counter('n', { strategy: 'log' });
        await log(later.tab).add(5);
        const before = raisedRows(await stored(origin));
        assert.equal(Object.keys(before).length, 1);
        const { tab, warnings } = await openPresent(origin);
        await assert.rejects(log(tab).add(3), mismatch);
        await assert.rejects(log(tab).read(), mismatch);
        assert.deepEqual(warnings, ['version-mismatch']);
        assert.deepEqual(raisedRows(await stored(origin)), before);
        await log(later.tab).add(1);
        assert.equal(await log(later.tab).read(), 6);
    });

    it('a lock, a value of once() and a call to a leader', async () => {
        await afterRaised(
            async (raised) => {
                await raised.lock('cart').run(() => {});
                assert.equal(await raised.once('token', () => 'secret'), 'secret');
                const call = raised.leader('sync').call('a call', { key: 'k' });
                call.catch(() => {}); // its tab is closed
                await raised.once('another', () => 1); // the call was kept before
            },
            async ({ tab, origin }) => {
                await assert.rejects(
                    tab.lock('cart').run(() => {}),
                    mismatch,
                );
                await assert.rejects(
                    tab.once('token', () => 'another'),
                    mismatch,
                );
                await assert.rejects(tab.leader('sync').call('another call'), mismatch);
                const lead = tab.leader('sync').run((term) => term.answer(() => assert.fail('answered')));
                lead.catch(() => {}); // it ends with its tab
                await tab.lock('free').run(() => {}); // other locks are not concerned
                await origin.settled();
            },
        );
    });

    it('a sequence, a budget and a rate limit', async () => {
        await afterRaised(
            async (raised) => {
                assert.equal(await raised.sequence('s', { gapless: true }).next(), 1);
                assert.equal(await raised.budget('b', { limit: 5 }).tryTake(), true);
                assert.equal(await raised.rateLimit('r', { limit: 1, interval: 60_000 }).tryTake(), true);
            },
            async ({ tab }) => {
                await assert.rejects(tab.sequence('s', { gapless: true }).next(), mismatch);
                await assert.rejects(tab.budget('b', { limit: 5 }).tryTake(), mismatch);
                await assert.rejects(tab.rateLimit('r', { limit: 1, interval: 60_000 }).take(), mismatch);
                assert.equal(await tab.sequence('another').next(), 1);
            },
        );
    });

    it('items of localStorage', async () => {
        const origin = await newOrigin({ seed: 1, storage: 'mutexed' });
        const { tab, page, warnings } = await openPresent(origin);
        const { localStorage } = page.window;
        for (const strategy of /** @type {const} */ (['naive', 'locked', 'lamport', 'eventual', 'log'])) {
            const counter = /** @type {any} */ (tab).counter('n', { strategy });
            await counter.add(5);
            await counter.flush();
            const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at));
            const own = keys.filter(
                (key) => key?.startsWith(`tabacus/${namespace}/${strategy}/n`) && !/(x|y|news)$/.test(key),
            );
            assert.ok(own.length > 0, strategy);
            // The algorithms of lamport and eventual have further keys, which are hints.
            for (const key of own) localStorage.setItem(key, '2;something else');
            await assert.rejects(counter.read(), mismatch, strategy);
            if (strategy !== 'log') await assert.rejects(counter.add(1), mismatch, strategy);
            for (const key of own) assert.equal(localStorage.getItem(key), '2;something else', key);
        }
        assert.deepEqual(warnings, ['version-mismatch']);
    });

    it('a queue: its head is not made anew, and its jobs run in the later version', async () => {
        /** @type {unknown[]} */
        const ran = [];
        const origin = await afterRaised(
            async (raised) => {
                await raised.queue('q').enqueue('first');
                await raised.queue('q').enqueue('second', { key: 'k' });
            },
            async ({ tab, origin }) => {
                const queue = tab.queue('q');
                queue.handle(({ payload }) => void ran.push(['present', payload]));
                for (const call of [
                    () => queue.enqueue('third'),
                    () => queue.jobs(),
                    () => queue.cancel('k'),
                    () => queue.pause(),
                    () => queue.clear(),
                    () => queue.onIdle(),
                ])
                    await assert.rejects(call(), mismatch);
                await origin.settled();
                assert.deepEqual(ran, []);
            },
        );
        const later = await openRaised(origin);
        later.tab.queue('q').handle(({ payload }) => void ran.push(payload));
        await later.tab.queue('q').onIdle();
        assert.deepEqual(ran, ['first', 'second']);
    });
});

describe(
    'rows that a later version has stored in a format of this one are read',
    { timeout: 120_000 },
    () => {
        it('rows, claims, locks, limits and queues whose version field is 2.1', async () => {
            const origin = await newOrigin({ seed: 1 });
            const first = await openPresent(origin);
            first.tab.counter('n').add(5);
            await first.tab.counter('n').flush();
            assert.equal(await first.tab.sequence('s', { gapless: true }).next(), 1);
            const { result } = await first.tab.queue('q').enqueue('job', { key: 'k' });
            result.catch(() => {});
            await first.tab.once('token', () => 'value');
            first.page.kill();
            await rewriteVersions(origin, '2.1;');
            const { tab, warnings } = await openPresent(origin);
            tab.counter('n').add(1);
            await tab.counter('n').flush();
            assert.equal(await tab.counter('n').read(), 6);
            assert.equal(await tab.sequence('s', { gapless: true }).next(), 2);
            assert.equal(await tab.once('token', () => 'another', { ttl: 60_000 }), 'value');
            /** @type {unknown[]} */
            const ran = [];
            tab.queue('q').handle(({ payload }) => void ran.push(payload));
            await tab.queue('q').onIdle();
            assert.deepEqual(ran, ['job']);
            assert.deepEqual(warnings, []);
        });

        it('a database of a higher version of IndexedDB', async () => {
            const origin = await newOrigin({ seed: 1 });
            const first = await openPresent(origin);
            first.tab.counter('n').add(5);
            await first.tab.close();
            const { window } = origin.openTab();
            const connection = await openDatabase(window, 7);
            assert.equal(connection.version, 7);
            connection.close();
            const { tab, warnings } = await openPresent(origin);
            tab.counter('n').add(1);
            await tab.counter('n').flush();
            assert.equal(await tab.counter('n').read(), 6);
            assert.deepEqual(warnings, []);
        });
    },
);
