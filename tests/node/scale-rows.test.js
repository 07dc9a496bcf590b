/**
 * The data that tabs leave behind: rows of each store, keys of localStorage, held locks. However many tabs have used
 * everything and were closed or killed, they leave no more than ten tabs do.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** The rows of `log` are one for each tab that has ever used it: docs/guarantees.md. */
const strategies = /** @type {const} */ ([
    'transactional',
    'optimistic',
    'deltas',
    'batched',
    'eventual',
    'locked',
    'naive',
]);
const minute_ms = 60_000;

/** Waits on the clock of the origin. @param {any} window @param {number} ms */
const sleep = (window, ms) => new Promise((resolve) => window.setTimeout(resolve, ms));

/** @param {import('tabacus').Tab} tab */
async function useCounters(tab) {
    const counter = tab.counter('visits');
    counter.subscribe(() => {});
    counter.add(1);
    tab.counter('moved').add(2);
    const all = strategies.map((strategy) => tab.counter(`by ${strategy}`, { strategy }));
    await Promise.all([counter.flush(), ...all.map((one) => one.add(1))]);
    await Promise.all(all.map((one) => one.flush()));
    await tab.counter('copy').merge(await tab.counter('moved').state());
    await tab.readCounters();
}

/** @param {import('tabacus').Tab} tab @param {string} own a name that no other tab uses */
async function useLocks(tab, own) {
    tab.lock('cart').subscribe(() => {});
    for (const name of ['cart', `cart of ${own}`])
        await tab.lock(name).run((held) => held.commit('carts', (tx) => tx.put('carts', 'newest', own)));
    await tab.lock('catalogue').run(() => {}, { mode: 'shared' });
    await tab.lockAll(['cart', 'till'], () => {});
    await tab.semaphore('printers', 2).run(() => {});
    await tab.once('token', () => own);
    await tab.once(`token of ${own}`, () => own, { ttl: minute_ms });
    await tab.serial('list', 0).set(1, () => 1);
}

/** @param {import('tabacus').Tab} tab @param {string} own */
async function useLeader(tab, own) {
    const leader = tab.leader('sync');
    leader.subscribe(() => {});
    leader.run((term) => term.answer((request) => request)).catch(() => {});
    await leader.call(own);
    await leader.call(own, { key: own });
    await leader.call(own, { key: 'the same' });
}

/** Leaves a job that waits, whose outcome this tab will not fetch. @param {import('tabacus').Tab} tab @param {string} own */
async function useQueue(tab, own) {
    const queue = tab.queue('mails');
    queue.subscribe(() => {});
    queue.handle(() => own);
    const receipts = await Promise.all([
        queue.enqueue({ own }),
        queue.enqueue(own, { key: own }),
        queue.enqueue(own, { delay: 50 }),
    ]);
    await Promise.all(receipts.map(({ result }) => result));
    await queue.enqueue(own, { key: own, delay: 500 });
}

/** Leaves a burst of the budget that has not ended. @param {import('tabacus').Tab} tab */
async function useLimits(tab) {
    await tab.sequence('orders', { block: 10 }).next();
    await tab.sequence('invoices', { gapless: true }).next();
    await tab.rateLimit('api', { limit: 1000, interval: 1000 }).take();
    const budget = tab.budget('downloads', { limit: 1_000_000 });
    await budget.tryTake(2);
    await budget.give(1);
    for (let taken = 0; taken < 20; ++taken) await budget.tryTake(1);
}

const features = [useCounters, useLocks, useLeader, useQueue, useLimits];

/**
 * Opens a tab that uses some features.
 *
 * @param {import('tabacus/emulator').Origin} origin
 * @param {string} own
 * @param {typeof features} used
 */
async function openUser(origin, own, used) {
    const page = origin.openTab();
    const tab = await open({ window: page.window });
    await Promise.all(used.map((use) => use(tab, own)));
    return page;
}

/**
 * Opens tabs, ten at once, and closes or kills them. The next ones come a minute later.
 *
 * @param {import('tabacus/emulator').Origin} origin
 * @param {number} count
 * @param {(at: number) => typeof features} usedBy what a tab uses
 */
async function useAndEnd(origin, count, usedBy) {
    const clock = origin.openTab();
    for (let opened = 0; opened < count; opened += 10) {
        const users = Array.from({ length: 10 }, (_, at) =>
            openUser(origin, `tab ${opened + at}`, usedBy(at)),
        );
        for (const [at, page] of (await Promise.all(users)).entries()) {
            if (at < 5) page.kill();
            else await page.close();
        }
        await sleep(clock.window, minute_ms);
    }
    await sleep(clock.window, 120 * minute_ms);
    clock.kill();
}

/** Returns what is in each store, in localStorage and among the locks. @param {any} window */
async function leftOvers(window) {
    /** @type {Map<string, string[]>} */
    const found = new Map();
    const opening = window.indexedDB.open('tabacus/default');
    const connection = await new Promise((resolve) => (opening.onsuccess = () => resolve(opening.result)));
    for (const store of connection.objectStoreNames) {
        const request = connection.transaction(store).objectStore(store).getAllKeys();
        found.set(store, await new Promise((resolve) => (request.onsuccess = () => resolve(request.result))));
    }
    connection.close();
    found.set('localStorage', Object.keys(window.localStorage));
    const { held, pending } = await window.navigator.locks.query();
    const namesOf = (/** @type {any[]} */ locks) => locks.map(({ name }) => name);
    found.set('locks held', namesOf(held)).set('locks waited for', namesOf(pending));
    return found;
}

/**
 * The data that `count` tabs leave behind two hours after their end, when a new one has used everything.
 *
 * @param {number} count
 * @param {(at: number) => typeof features} usedBy what a tab uses
 */
async function leftBy(count, usedBy) {
    const origin = await createOrigin({ storage: 'mutexed' });
    await useAndEnd(origin, count, usedBy);
    const page = await openUser(origin, 'the last tab', features);
    await sleep(page.window, 1000);
    const found = await leftOvers(page.window);
    origin.close();
    return found;
}

/** @param {import('tabacus/emulator').Origin} origin @param {string} key a part of it */
async function rowsOfLocks(origin, key) {
    const page = origin.openTab();
    const rows = (await leftOvers(page.window)).get('locks') ?? [];
    page.kill();
    return rows.filter((row) => row.includes(key)).length;
}

describe('what tabs leave behind', () => {
    it('three hundred tabs leave no more than ten', async () => {
        const few = await leftBy(10, () => features);
        const many = await leftBy(300, (at) => features.filter((_, feature) => feature === at % 5));
        for (const [where, keys] of many) {
            const before = few.get(where) ?? [];
            const added = keys.filter((key) => !before.includes(key)).slice(0, 3);
            assert.ok(keys.length <= before.length, `${where}: ${before.length}, ${keys.length}: ${added}`);
        }
    });

    it('a leader that stays for a day keeps the answers of an hour, and removes others with later calls', async () => {
        const origin = await createOrigin({ storage: 'mutexed' });
        const [page, tab] = [origin.openTab(), await open({ window: origin.openTab().window })];
        const leading = await open({ window: page.window });
        leading
            .leader('sync')
            .run((term) => term.answer((request) => request))
            .catch(() => {});
        const begun = page.window.Date.now();
        for (let hour = 0; hour < 24; ++hour) {
            origin.setClock(begun + hour * 61 * minute_ms);
            for (let call = 0; call < 20; ++call)
                await tab.leader('sync').call(call, { key: `${hour}/${call}` });
            assert.ok((await rowsOfLocks(origin, '/answer/')) <= 20, `in hour ${hour}`);
        }
        origin.close();
    });

    it('once() keeps a value for its ttl, and for an hour', async () => {
        const origin = await createOrigin({ storage: 'mutexed' });
        const tab = await open({ window: origin.openTab().window });
        await tab.once('short', () => 1);
        await tab.once('long', () => 1, { ttl: 300 * minute_ms });
        const later = origin.openTab();
        await sleep(later.window, 130 * minute_ms);
        const other = await open({ window: later.window });
        await other.lock('any').run(() => {});
        await sleep(later.window, 1000);
        assert.equal(await rowsOfLocks(origin, 'short'), 0);
        assert.equal(await other.once('long', () => 2, { ttl: 200 * minute_ms }), 1);
        origin.close();
    });
});
