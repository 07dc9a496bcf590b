/** A tab with every feature in use has one connection, one set of listeners and one table of locks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { testOrigin } from './test-origin.js';
import { wasmOf } from './program.js';

/** @typedef {import('tabacus').Tab} Tab */

const name = 'tabacus/default';

/** An origin with one window. Its platform counts connections, channels and listeners. */
async function instrumented() {
    const origin = await testOrigin();
    const window = origin.window();
    /** @type {string[]} */
    const channels = [];
    const { BroadcastChannel } = window;
    window.BroadcastChannel = class extends BroadcastChannel {
        /** @param {string} asked */
        constructor(asked) {
            super(asked);
            channels.push(asked);
        }
        /** A tab that does not listen opens a channel for each message that it posts, and closes it. */
        close() {
            channels.splice(channels.indexOf(this.name), 1);
            super.close();
        }
    };
    /** @type {Map<string, number>} */
    const opened = new Map();
    const factory = window.indexedDB;
    Object.defineProperty(window, 'indexedDB', {
        value: {
            open: (/** @type {string} */ asked, /** @type {number | undefined} */ version) => {
                opened.set(asked, (opened.get(asked) ?? 0) + 1);
                return factory.open(asked, version);
            },
        },
    });
    /** The number of listeners of each type. @type {Map<string, number>} */
    const listeners = new Map();
    for (const target of [window, window.document]) {
        const { addEventListener, removeEventListener } = target;
        const note = (/** @type {string} */ type, /** @type {number} */ by) =>
            listeners.set(type, (listeners.get(type) ?? 0) + by);
        target.addEventListener = (/** @type {string} */ type, /** @type {any[]} */ ...rest) => {
            note(type, 1);
            return Reflect.apply(addEventListener, target, [type, ...rest]);
        };
        target.removeEventListener = (/** @type {string} */ type, /** @type {any[]} */ ...rest) => {
            note(type, -1);
            return Reflect.apply(removeEventListener, target, [type, ...rest]);
        };
    }
    return { origin, window, channels, opened, listeners };
}

/** @param {Tab} tab */
async function useEverything(tab) {
    tab.counter('visits').add(1);
    await tab.counter('visits').flush();
    for (const strategy of /** @type {const} */ (['naive', 'transactional', 'deltas', 'batched', 'locked'])) {
        await tab.counter('orders', { strategy }).add(1);
    }
    const order = await Promise.all(
        [1, 2, 3].map((n) =>
            tab.lock('refresh').run(async (held) => held.commit('kept', (tx) => tx.put('kept', 'n', n))),
        ),
    );
    assert.equal(order.length, 3);
    assert.equal(await tab.once('token', () => 7), 7);
    await tab.semaphore('slots', 2).run(() => {});
    await tab.leader('sync').run(() => {});
    await tab.sequence('invoice').next();
    assert.ok(await tab.budget('calls', { limit: 9 }).tryTake(2));
    assert.ok(await tab.rateLimit('mails', { limit: 3, interval: 1_000 }).tryTake());
    const queue = tab.queue('pages');
    queue.handle(({ payload }) => payload + 1);
    const receipt = await queue.enqueue(1);
    assert.equal(await receipt.result, 2);
    await queue.onIdle();
}

test('with every feature in use, a tab opens its database once and listens once', async () => {
    const { window, opened, listeners, origin } = await instrumented();
    const tab = await open({ window });
    const counting = Object.fromEntries(listeners);
    await useEverything(tab);
    assert.deepEqual([...opened], [[name, 1]]);
    // A queue listens also to the network, and a strategy in localStorage to storage events.
    assert.deepEqual(Object.fromEntries(listeners), { ...counting, online: 1, storage: 1 });
    await tab.close();
    assert.deepEqual([...opened], [[name, 1]], 'close() opens no connection');
    assert.deepEqual([...listeners.values()].filter(Boolean), []);
    assert.deepEqual(await origin.heldLocks(), []);
});

test('locks and queues share one lock table, with one channel and one queue of requests for a name', async () => {
    const { origin, window, channels } = await instrumented();
    const tab = await open({ window });
    await useEverything(tab);
    assert.deepEqual([...channels].sort(), [...new Set(channels)].sort());
    const queue = tab.queue('slow');
    /** @type {import('tabacus').LockRequestInfo[]} */
    let seen = [];
    queue.handle(async () => {
        const second = tab.lock('queue/slow/0').run(() => {});
        await origin.sleep(1);
        seen = await tab.lock('queue/slow/0').query();
        void second.catch(() => {});
    });
    await (
        await queue.enqueue(1)
    ).result;
    // The worker of the queue holds the lock of its slot, and the application waits behind it.
    assert.deepEqual(
        seen.map(({ state }) => state),
        ['held', 'waiting'],
    );
    assert.equal(new Set(seen.map(({ tab: by }) => by)).size, 1, 'both requests are of this tab');
    await tab.close();
    assert.deepEqual(await origin.heldLocks(), []);
});

test('a page that is left commits before the connection closes, whatever features it has used', async () => {
    const { origin, window, opened } = await instrumented();
    const tab = await open({ window });
    await useEverything(tab);
    tab.counter('visits').add(4);
    window.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
    await origin.sleep(50);
    assert.deepEqual([...opened], [[name, 1]], 'the last commit uses the open connection');
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    assert.equal(await tab.counter('visits').read(), 5);
    assert.deepEqual([...opened], [[name, 2]]);
    await tab.lock('refresh').run(() => {});
    await tab.close();
});

test('open() requests the wasm and the database before it returns, and reads localStorage only later', async (t) => {
    const window = (await testOrigin()).window();
    const { indexedDB, localStorage } = window;
    /** @type {string[]} */
    const asked = [];
    const factory = {
        open: (/** @type {string} */ database, /** @type {number | undefined} */ version) => {
            asked.push('database');
            return indexedDB.open(database, version);
        },
    };
    Object.defineProperty(window, 'indexedDB', { value: factory });
    const get = () => {
        asked.push('localStorage');
        return localStorage;
    };
    Object.defineProperty(window, 'localStorage', { get });
    const { fetch } = globalThis;
    t.after(() => Object.assign(globalThis, { fetch }));
    globalThis.fetch = async (address) => {
        asked.push(String(address));
        return new Response(wasmOf('counters'));
    };
    const wasm = 'https://shop.test/counters.wasm';
    const opening = open({ window, wasm });
    assert.deepEqual(asked, [wasm, 'database']);
    const tab = await opening;
    tab.counter('n').add(1);
    assert.deepEqual(asked, [wasm, 'database']);
    assert.equal(tab.capabilities.mirror, true);
    assert.deepEqual(asked, [wasm, 'database', 'localStorage']);
    await tab.close();
});
