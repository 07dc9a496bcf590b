/**
 * Keys and messages that other scripts of the origin write to localStorage or post on the channels of tabacus do not
 * reach the core.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { settled } from './page-waits.js';
import { testOrigin } from './test-origin.js';
import { wasmOf } from './program.js';
import { Program } from '../../js/core/program.js';

/** A storage event that counts the reads of its values. */
class CountingStorageEvent extends Event {
    reads = 0;

    /** @param {string | null} key @param {string} value */
    constructor(key, value) {
        super('storage');
        this.key = key;
        this.value = value;
    }

    get oldValue() {
        return null;
    }
    get newValue() {
        this.reads++;
        return this.value;
    }
}

test("the values of other applications' keys are not read", async () => {
    const origin = await testOrigin();
    const window = origin.window();
    const tab = await open({ namespace: 'ours', window });
    const counter = tab.counter('c', { strategy: 'naive' });
    assert.equal(await counter.add(1), 1);
    for (const key of ['document', 'tabacus/other/naive/c', 'tabacus/ours']) {
        const event = new CountingStorageEvent(key, '漢'.repeat(2e6));
        window.dispatchEvent(event);
        assert.equal(event.reads, 0, key);
    }
    const ours = new CountingStorageEvent('tabacus/ours/naive/c', '7');
    window.dispatchEvent(ours);
    assert.equal(ours.reads, 1);
    assert.equal(counter.value, 7);
    await tab.close();
    assert.deepEqual(origin.errors, []);
});

test('a value of tabacus that is too long counts as unreadable, and the counter goes on', async () => {
    const origin = await testOrigin({ storage: 'interleaved' });
    const window = origin.window();
    const tab = await open({ namespace: 'ours', window });
    const counter = tab.counter('c', { strategy: 'naive' });
    origin.localStorage.setItem('tabacus/ours/naive/c', '5'.padEnd(2 ** 17, '5'));
    assert.equal(await counter.read(), 0);
    window.dispatchEvent(new CountingStorageEvent('tabacus/ours/naive/c', '9'.repeat(2 ** 25)));
    assert.equal(await counter.add(2), 2);
    await tab.close();
    assert.deepEqual(origin.errors, []);
});

test('a message that is longer than any of tabacus is dropped', async () => {
    const origin = await testOrigin();
    const [window, other] = [origin.window(), origin.window()];
    const tab = await open({ namespace: 'ours', window });
    const channel = new other.BroadcastChannel('tabacus/ours/news');
    const counter = tab.counter('c');
    for (const data of ['x'.repeat(12e6), { not: 'a text' }, 'x'.repeat(2 ** 22 + 1)])
        channel.postMessage(data);
    const sibling = await open({ namespace: 'ours', window: other });
    sibling.counter('c').add(3);
    await origin.until(() => counter.value === 3);
    channel.close();
    await Promise.all([tab.close(), sibling.close()]);
    assert.deepEqual(origin.errors, []);
});

test('a text for which a core has no memory is refused, and its allocator goes on', async () => {
    const { glue } = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    // The memory grows to 2 GiB: the first size exceeds it, the second exceeds it with its copy.
    for (const size of [2, 1.25]) assert.equal(glue.tab_buffer(size * 2 ** 30), 0);
    assert.notEqual(glue.tab_buffer(1024), 0);
});

test('a foreign database with the name of tabacus keeps its records and gets the stores of tabacus', async () => {
    const origin = await testOrigin();
    const foreign = await origin.connect('tabacus/default', {
        version: 3,
        upgrade: (database) => {
            database.createObjectStore('rows', { keyPath: 'id' }).put({ id: 1, theirs: true });
            database.createObjectStore('photos').put('sunset', 1);
        },
    });
    foreign.close();
    const tab = await open({ window: origin.window() });
    assert.equal(tab.capabilities.store, 'indexeddb');
    tab.counter('c').add(2);
    await tab.counter('c').flush();
    assert.equal(await tab.counter('c').read(), 2);
    await tab.close();
    const database = await origin.connect('tabacus/default');
    assert.equal(database.version, 4);
    const names = [...database.objectStoreNames];
    const renamed = String(names.find((name) => name.startsWith('rows (')));
    const transaction = database.transaction([renamed, 'photos']);
    assert.deepEqual(await settled(transaction.objectStore(renamed).get(1)), { id: 1, theirs: true });
    assert.equal(await settled(transaction.objectStore('photos').get(1)), 'sunset');
    database.close();
});

test('foreign messages on the channel change nothing', async () => {
    const origin = await testOrigin();
    /** @type {Set<string>} */
    const names = new Set();
    const recording = (/** @type {any} */ { BroadcastChannel }) => ({
        BroadcastChannel: class extends BroadcastChannel {
            /** @param {string} name */
            constructor(name) {
                super(name);
                names.add(name);
            }
        },
    });
    const tab = await open({ window: origin.window(recording) });
    const other = await open({ window: origin.window() });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    for (const name of names) {
        const stranger = new origin.BroadcastChannel(name);
        for (const message of [
            '',
            'x',
            '1|2|3',
            null,
            7,
            { a: 1 },
            new ArrayBuffer(8),
            '\0'.repeat(5000),
            '\ud800',
        ]) {
            stranger.postMessage(message);
        }
        stranger.close();
    }
    other.counter('c').add(1);
    await other.counter('c').flush();
    await origin.until(() => counter.value === 2);
    assert.equal(await counter.read(), 2);
    await tab.close();
    await other.close();
});

test('foreign storage events change nothing', async () => {
    const origin = await testOrigin();
    const window = origin.window({ indexedDB: undefined });
    const tab = await open({ window });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    for (const key of [null, '', 'tabacus/', window.localStorage.key(0)]) {
        for (const newValue of [null, '', 'nonsense', '9'.repeat(400)]) {
            window.dispatchEvent(Object.assign(new Event('storage'), { key, oldValue: null, newValue }));
        }
    }
    counter.add(1);
    assert.equal(await counter.read(), 2);
    await tab.close();
    assert.deepEqual(origin.errors, []);
});
