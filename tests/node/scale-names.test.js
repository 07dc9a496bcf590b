/**
 * How the cost of a tab grows with the number of names that it uses: transactions, messages, requests and timers, which
 * the emulator counts exactly. Names that are no longer used leave nothing behind.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** How long a lock may be kept for its next use. */
const grace_ms = 10_000;

/**
 * Counts the calls of the platform in a tab.
 *
 * @param {any} window
 * @returns {() => Record<string, number>} returns the numbers of calls since its last call
 */
function counted(window) {
    /** @type {Record<string, number>} */
    let counts = {};
    const methods = [
        [Object.getPrototypeOf(window.navigator.locks), 'request'],
        [Object.getPrototypeOf(window.navigator.locks), 'query'],
        [window.IDBDatabase.prototype, 'transaction'],
        [window.BroadcastChannel.prototype, 'postMessage'],
        [window, 'setTimeout'],
        ...['get', 'getAll', 'getAllKeys', 'openCursor', 'put', 'delete'].map((name) => [
            window.IDBObjectStore.prototype,
            name,
        ]),
    ];
    for (const [owner, name] of methods) {
        const method = owner[name];
        /** @this {unknown} @param {...unknown} given */
        const count = function (...given) {
            counts[name] = (counts[name] ?? 0) + 1;
            return method.apply(this, given);
        };
        Object.defineProperty(owner, name, { value: count, configurable: true, writable: true });
    }
    return () => {
        const taken = counts;
        counts = {};
        return taken;
    };
}

/** Opens a tab that has used a lock. */
async function openTab() {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const take = counted(window);
    const tab = await open({ window });
    const clock = origin.openTab().window;
    /** Lets time pass on the virtual clock. @param {number} delay_ms @returns {Promise<void>} */
    const pass = (delay_ms) => new Promise((resolve) => void clock.setTimeout(resolve, delay_ms));
    await tab.lock('the first').run(() => {});
    await pass(grace_ms);
    take();
    return { origin, window, tab, take, pass };
}

/** @param {import('tabacus').Tab} tab @param {number} count @param {'exclusive' | 'shared'} mode @param {string} [prefix] */
const acquireAll = (tab, count, mode, prefix = 'name') =>
    Promise.all(Array.from({ length: count }, (_, at) => tab.lock(`${prefix} ${at}`).acquire({ mode })));

/** The calls that grow with the number of names, for each name. @param {Record<string, number>} counts @param {number} names */
const perName = ({ request = 0, postMessage = 0, put = 0, get = 0, query = 0, setTimeout = 0 }, names) =>
    Object.values({ request, postMessage, put, get, query, setTimeout }).map((count) => count / names);

describe('many names in one tab', () => {
    for (const mode of /** @type {const} */ (['exclusive', 'shared'])) {
        it(`each of 1,000 ${mode} locks costs as much as each of 100, and one more as much as the first`, async () => {
            const { origin, tab, take, pass } = await openTab();
            const [only] = await acquireAll(tab, 1, mode, 'only');
            await origin.settled();
            const first = take();
            only?.release();
            await pass(grace_ms);
            take();
            const fewer = await acquireAll(tab, 100, mode, 'few');
            await origin.settled();
            const few = take();
            const more = await acquireAll(tab, 1_000, mode, 'many');
            await origin.settled();
            const many = take();
            assert.ok((few.transaction ?? 0) <= 3, `${few.transaction} transactions`);
            assert.ok((many.transaction ?? 0) <= 6, `${many.transaction} transactions`);
            const [request = 0] = perName(many, 1_000);
            assert.ok(request <= 2, `${request} native requests a name`);
            for (const [at, count] of perName(many, 1_000).entries())
                assert.ok(count <= (perName(few, 100)[at] ?? 0) + 0.01, JSON.stringify([few, many]));
            const [another] = await acquireAll(tab, 1, mode, 'another');
            await origin.settled();
            // One timer is that of the lock, and the other one bounds the transaction that reserves tokens.
            const timers = mode === 'exclusive' ? 2 : 1;
            assert.deepEqual({ ...first, ...take() }, { ...first, setTimeout: timers });
            another?.release();
            for (const held of [...fewer, ...more]) held.release();
            await tab.close();
            origin.close();
        });

        it(`1,000 ${mode} locks that are let go leave no native lock, key, or work for the next lock`, async () => {
            const { origin, window, tab, take, pass } = await openTab();
            const keys = window.localStorage.length;
            const { locks } = window.navigator;
            const before = (await locks.query()).held?.length;
            const [only] = await acquireAll(tab, 1, mode, 'only');
            only?.release();
            await pass(grace_ms);
            take();
            const [second] = await acquireAll(tab, 1, mode, 'second');
            second?.release();
            await pass(grace_ms);
            const first = take();
            for (const held of await acquireAll(tab, 1_000, mode)) held.release();
            await pass(grace_ms);
            take();
            const { held = [], pending = [] } = await locks.query();
            assert.deepEqual([held.length, pending.length], [before, 0]);
            assert.equal(window.localStorage.length, keys);
            take();
            await pass(60_000);
            assert.deepEqual(take(), {}, 'nothing is done for names that were let go');
            const [next] = await acquireAll(tab, 1, mode, 'next');
            next?.release();
            await pass(grace_ms);
            assert.deepEqual(take(), first);
            await tab.close();
            origin.close();
        });
    }

    it('the opening of a tab, and its first add, cost the same beside 10 counters and beside 1,000', async () => {
        const costs = [];
        for (const count of [10, 1_000]) {
            const origin = await createOrigin();
            const tab = await open({ window: origin.openTab().window });
            const counters = Array.from({ length: count }, (_, at) => tab.counter(`counter ${at}`));
            for (const counter of counters) counter.add(1);
            await Promise.all(counters.map((counter) => counter.flush()));
            await origin.settled();
            const { window } = origin.openTab();
            const take = counted(window);
            const second = await open({ window });
            await origin.settled();
            const opening = take();
            const counter = second.counter('counter 7');
            counter.add(1);
            await counter.flush();
            await origin.settled();
            costs.push([opening, take()]);
            assert.equal(counter.value, 2);
            await Promise.all([tab.close(), second.close()]);
            origin.close();
        }
        assert.deepEqual(costs[1], costs[0]);
    });
});
