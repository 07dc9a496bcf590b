/**
 * The cost of a job does not grow with the number of jobs in its queue: requests to the store, and rows that are read,
 * which the emulator counts exactly.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** @typedef {{ requests: number, rows: number, transactions: number }} Counts */

/**
 * Counts a tab's requests to IndexedDB.
 *
 * @param {any} window
 */
function countedStore(window) {
    /** @type {Counts} */
    const counts = { requests: 0, rows: 0, transactions: 0 };
    /** @param {any} prototype @param {string} name @param {(request: any) => void} count */
    const wrap = (prototype, name, count) => {
        const method = prototype[name];
        /** @this {unknown} @param {...unknown} given */
        const counting = function (...given) {
            const request = method.apply(this, given);
            count(request);
            return request;
        };
        Object.defineProperty(prototype, name, { value: counting, configurable: true, writable: true });
    };
    const { IDBDatabase, IDBObjectStore } = window;
    wrap(IDBDatabase.prototype, 'transaction', () => ++counts.transactions);
    for (const name of ['get', 'put', 'delete', 'getAllKeys'])
        wrap(IDBObjectStore.prototype, name, () => ++counts.requests);
    wrap(IDBObjectStore.prototype, 'getAll', (request) => {
        ++counts.requests;
        request.addEventListener('success', () => (counts.rows += request.result.length));
    });
    return {
        /** The counts since the last call of this function. @returns {Counts} */
        take() {
            const taken = { ...counts };
            counts.requests = counts.rows = counts.transactions = 0;
            return taken;
        },
    };
}

/**
 * Opens the namespace in a new tab of an origin. The tabs of an origin share the classes of IndexedDB, so that `store`
 * of one tab counts the requests of all of them.
 *
 * @param {import('tabacus/emulator').Origin} origin
 */
async function openTab(origin) {
    const { window } = origin.openTab();
    const store = countedStore(window);
    return { store, tab: await open({ window, preload: ['locks', 'queue'] }) };
}

/**
 * Enqueues `count` jobs, a thousand in each turn.
 *
 * @param {import('tabacus').Queue} queue
 * @param {number} count
 * @param {((at: number) => string)} [keyOf]
 */
async function fill(queue, count, keyOf) {
    const options = (/** @type {number} */ at) => (keyOf ? { key: keyOf(at) } : {});
    for (let from = 0; from < count; from += 1_000) {
        const turn = Array.from({ length: Math.min(1_000, count - from) }, (_, at) => from + at);
        await Promise.all(turn.map((at) => queue.enqueue(at, options(at))));
    }
}

/** Runs jobs until so many have begun. @param {import('tabacus').Queue} queue @param {number} count */
function run(queue, count) {
    return new Promise((resolve) => {
        let begun = 0;
        const stop = queue.handle(() => {
            if (++begun < count) return;
            stop();
            resolve(undefined);
        });
    });
}

/** Waits on the clock of the origin. @param {any} window @param {number} ms */
const sleep = (window, ms) => new Promise((resolve) => window.setTimeout(resolve, ms));

/**
 * Lets a tab request the locks of other tabs' slots a little later than its own.
 *
 * @param {any} window
 * @param {number} at
 * @param {number} count of tabs
 */
function requestOwnSlotFirst(window, at, count) {
    const { locks } = window.navigator;
    const request = locks.request.bind(locks);
    locks.request = async (/** @type {string} */ name, /** @type {unknown[]} */ ...rest) => {
        const slot = /queue%2Fq%2F(\d+)$/.exec(name)?.[1];
        if (slot && Number(slot) % count !== at) await sleep(window, 3);
        return request(name, ...rest);
    };
}

describe('growth of queues', () => {
    it('one more job, and a claim, ask exactly as much of a queue of 20,000 jobs as of one of 1,000', async () => {
        const origin = await createOrigin();
        const { tab, store } = await openTab(origin);
        const measured = [];
        for (const count of [1_000, 20_000]) {
            const queue = tab.queue(`of ${count}`);
            await fill(queue, count);
            await queue.enqueue('one more');
            store.take();
            await queue.enqueue('one more');
            const enqueued = store.take();
            await queue.enqueue('one more', { key: 'one more' });
            const keyed = store.take();
            await run(queue, 100);
            measured.push({ enqueued, keyed, claimed: store.take() });
        }
        const [few, many] = measured;
        assert.deepEqual(many, few);
        await tab.close();
        origin.close();
    });

    it('jobs with keys that begin alike are looked up and forgotten together', async () => {
        const origin = await createOrigin();
        const { tab, store } = await openTab(origin);
        const queue = tab.queue('q');
        const jobs = 4_000;
        const keyOf = (/** @type {number} */ at) => `page ${10_000 + at}`;
        store.take();
        await fill(queue, jobs, keyOf);
        // A job is a row, and so is its key.
        const enqueued = store.take();
        assert.ok(enqueued.requests < 2.1 * jobs, JSON.stringify(enqueued));
        const again = await Promise.all([100, 200].map((at) => queue.enqueue(at, { key: keyOf(at) })));
        assert.deepEqual(
            again.map(({ joined }) => joined),
            [true, true],
        );
        store.take();
        await run(queue, jobs);
        await queue.onIdle();
        const drained = store.take();
        assert.ok(drained.requests < 0.1 * jobs, JSON.stringify(drained));
        assert.equal((await queue.enqueue('again', { key: keyOf(7) })).joined, false);
        await tab.close();
        origin.close();
    });

    it('keys in no order are looked up together while there are few of them', async () => {
        const origin = await createOrigin();
        const { tab, store } = await openTab(origin);
        const queue = tab.queue('q');
        const jobs = 4_000;
        store.take();
        await fill(queue, jobs, (at) => `page ${Math.imul(at + 1, 0x9e3779b1) >>> 0}`);
        const enqueued = store.take();
        assert.ok(enqueued.requests < 2.1 * jobs, JSON.stringify(enqueued));
        await tab.close();
        origin.close();
    });

    it('a key outlives the keys of jobs that are done together, before and behind it', async () => {
        const origin = await createOrigin();
        const { tab } = await openTab(origin);
        const queue = tab.queue('q', { attempts: 2, backOff: 1_000_000 });
        await fill(queue, 100, (at) => `page ${100 + at}`);
        const stop = queue.handle(({ key, next }) => {
            if (key === 'page 150') throw new Error('later');
            if (key === 'page 160') next('follower', { key: 'page 161', delay: 1_000_000 });
        });
        while (queue.size > 2) await sleep(origin.openTab().window, 100);
        stop();
        for (const [key, joined] of [
            ['page 149', false],
            ['page 150', true],
            ['page 151', false],
            ['page 160', false],
            ['page 161', true],
        ])
            assert.equal((await queue.enqueue('again', { key: String(key) })).joined, joined, String(key));
        await tab.close();
        origin.close();
    });

    it('a part of a list reads as much of a long queue as of a short one, and the parts make the list', async () => {
        const origin = await createOrigin();
        const { tab, store } = await openTab(origin);
        const queue = tab.queue('long');
        await fill(queue, 3_000);
        await queue.enqueue('first', { priority: 1 });
        await queue.enqueue('late', { delay: 1_000_000 });
        await queue.enqueue('other', { kind: 'other' });
        const all = await queue.jobs();
        assert.equal(all.length, 3_003);
        assert.deepEqual([all[0]?.payload, all[1]?.payload, all.at(-1)?.payload], ['first', 0, 'late']);
        /** @type {string[]} */
        const ids = [];
        let after;
        for (;;) {
            store.take();
            const part = await queue.jobs({ after, limit: 500 });
            assert.ok(store.take().rows <= 250);
            if (part.length === 0) break;
            ids.push(...part.map(({ id }) => id));
            after = ids.at(-1);
        }
        assert.deepEqual(
            ids,
            all.map(({ id }) => id),
        );
        await tab.close();
        origin.close();
    });

    it('a list goes on behind a job that is gone since, and behind any job of the queue', async () => {
        const origin = await createOrigin();
        const { tab } = await openTab(origin);
        const other = await openTab(origin);
        const queue = tab.queue('q');
        for (const key of ['a', 'b', 'c', 'd']) await queue.enqueue(key, { key });
        const [, last] = await queue.jobs({ limit: 2 });
        await queue.cancel('b');
        const rest = await queue.jobs({ after: last?.id });
        assert.deepEqual(
            rest.map(({ payload }) => payload),
            ['c', 'd'],
        );
        const [next] = await other.tab.queue('q').jobs({ after: rest[0]?.id, limit: 1 });
        assert.equal(next?.payload, 'd');
        await assert.rejects(other.tab.queue('q').jobs({ after: last?.id }), { code: 'invalid-argument' });
        for (const wrong of [{ limit: 0 }, { limit: 1.5 }, { after: '' }, { after: 7 }, { from: 'a' }])
            await assert.rejects(queue.jobs(/** @type {any} */ (wrong)), { code: 'invalid-argument' });
        await other.tab.close();
        await tab.close();
        origin.close();
    });

    it('dead letters are listed in parts, the oldest first, also if a part is retried meanwhile', async () => {
        const origin = await createOrigin();
        const { tab } = await openTab(origin);
        const queue = tab.queue('q', { attempts: 1 });
        await fill(queue, 25);
        const stop = queue.handle(() => {
            throw new Error('fails');
        });
        await queue.onIdle();
        stop();
        const all = (await queue.deadLetters()).map(({ id }) => id);
        assert.equal(all.length, 25);
        const first = await queue.deadLetters({ limit: 10 });
        for (const letter of first) assert.equal(await letter.discard(), true);
        const rest = await queue.deadLetters({ after: first.at(-1)?.id });
        assert.deepEqual(
            [...first, ...rest].map(({ id }) => id),
            all,
        );
        await assert.rejects(queue.deadLetters({ after: 'none' }), { code: 'invalid-argument' });
        await tab.close();
        origin.close();
    });

    it('clear() removes many jobs with keys, and leaves no row of a key', async () => {
        const origin = await createOrigin();
        const { tab } = await openTab(origin);
        const queue = tab.queue('q');
        await fill(queue, 1_000, String);
        assert.equal(await queue.clear(), 1_000);
        assert.equal((await queue.enqueue('again', { key: '7' })).joined, false);
        assert.equal((await queue.jobs()).length, 1);
        await tab.close();
        origin.close();
    });

    it('sixteen tabs that share sixteen slots ask no more of the store than one tab that has all of them', async () => {
        const asked = [];
        for (const count of [1, 16]) {
            const origin = await createOrigin();
            const { tab, store } = await openTab(origin);
            const tabs = [tab];
            while (tabs.length < count) tabs.push(await open({ window: origin.openTab().window }));
            const queues = tabs.map((of) => of.queue('q', { concurrency: 16 }));
            await fill(/** @type {import('tabacus').Queue} */ (queues[0]), 2_000);
            store.take();
            let done = 0;
            const ended = new Promise((resolve) => {
                for (const queue of queues) queue.handle(() => void (++done === 2_000 && resolve(undefined)));
            });
            await ended;
            await queues[0]?.onIdle();
            asked.push(store.take());
            await Promise.all(tabs.map((of) => of.close()));
            origin.close();
        }
        const [one, many] = asked;
        assert.ok(Number(many?.requests) <= 1.5 * Number(one?.requests), JSON.stringify(asked));
        assert.ok(Number(many?.transactions) <= 1.5 * Number(one?.transactions) + 32, JSON.stringify(asked));
    });

    it('sixteen tabs that run a job each ask no more of the store than one tab that runs sixteen, and send few messages', async () => {
        const asked = [];
        let sent = 0;
        for (const count of [1, 16]) {
            const origin = await createOrigin();
            const windows = Array.from({ length: count }, () => origin.openTab().window);
            const store = countedStore(windows[0]);
            windows.forEach((window, at) => requestOwnSlotFirst(window, at, count));
            for (const window of windows) {
                window.BroadcastChannel = class extends window.BroadcastChannel {
                    /** @param {unknown} message */
                    postMessage(message) {
                        if (this.name.endsWith('/queues')) ++sent;
                        super.postMessage(message);
                    }
                };
            }
            const tabs = await Promise.all(windows.map((window) => open({ window })));
            const queues = tabs.map((of) => of.queue('q', { concurrency: 16 }));
            await fill(/** @type {import('tabacus').Queue} */ (queues[0]), 500);
            store.take();
            sent = 0;
            const workers = new Set();
            queues.forEach((queue, at) => {
                queue.handle(() => {
                    workers.add(at);
                    return sleep(windows[at], 4);
                });
            });
            await Promise.all(queues.map((queue) => queue.onIdle()));
            assert.equal(workers.size, count);
            asked.push(store.take());
            await Promise.all(tabs.map((of) => of.close()));
            origin.close();
        }
        const [one, many] = asked;
        assert.ok(Number(many?.transactions) <= 1.25 * Number(one?.transactions), JSON.stringify(asked));
        assert.ok(sent < 100, `${sent} messages`);
    });

    it('a tab that runs sixteen short jobs at a time sends few messages, and the others learn how many are done', async () => {
        const origin = await createOrigin();
        const watching = origin.openTab().window;
        let received = 0;
        watching.BroadcastChannel = class extends watching.BroadcastChannel {
            /** @param {string} name */
            constructor(name) {
                super(name);
                this.addEventListener('message', () => ++received);
            }
        };
        const watcher = await open({ window: watching, preload: ['locks', 'queue'] });
        const { window } = origin.openTab();
        const tab = await open({ window, preload: ['locks', 'queue'] });
        const [queue, other] = [tab, watcher].map((of) => of.queue('q', { concurrency: 16 }));
        assert.ok(queue && other);
        await fill(queue, 1_000);
        let done = 0;
        other.subscribe((state) => void (done = state.done));
        await sleep(watching, 1_000);
        received = 0;
        queue.handle(() => sleep(window, 4));
        await queue.onIdle();
        await sleep(watching, 1_000);
        assert.equal(done, 1_000);
        assert.ok(received < 100, `${received} messages`);
        await Promise.all([tab.close(), watcher.close()]);
        origin.close();
    });

    it('one job in a queue that sixteen idle tabs handle costs fewer transactions than they have workers', async () => {
        const origin = await createOrigin();
        const { tab, store } = await openTab(origin);
        const windows = Array.from({ length: 15 }, () => origin.openTab().window);
        const tabs = [tab, ...(await Promise.all(windows.map((window) => open({ window }))))];
        const queues = tabs.map((of) => of.queue('q', { concurrency: 16 }));
        for (const queue of queues) queue.handle(() => {});
        await queues[0]?.onIdle();
        await sleep(windows[0], 10_000);
        store.take();
        await queues[0]?.enqueue('one');
        await queues[0]?.onIdle();
        await sleep(windows[0], 10_000);
        const { transactions } = store.take();
        assert.ok(transactions < 40, `${transactions} transactions`);
        await Promise.all(tabs.map((of) => of.close()));
        origin.close();
    });
});
