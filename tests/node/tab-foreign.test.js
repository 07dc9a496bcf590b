/**
 * Nothing that other scripts of the origin write to localStorage or post on the channels of tabacus reaches
 * the core.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { FakeOrigin, until } from './fake-origin.js';
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
    const origin = new FakeOrigin();
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
    assert.deepEqual(window.errors, []);
});

test('a value of tabacus that is too long counts as unreadable, and the counter goes on', async () => {
    const origin = new FakeOrigin();
    const window = origin.window();
    const tab = await open({ namespace: 'ours', window });
    const counter = tab.counter('c', { strategy: 'naive' });
    origin.area.set('tabacus/ours/naive/c', '5'.padEnd(2 ** 17, '5'));
    assert.equal(await counter.read(), 0);
    window.dispatchEvent(new CountingStorageEvent('tabacus/ours/naive/c', '9'.repeat(2 ** 25)));
    assert.equal(await counter.add(2), 2);
    await tab.close();
    assert.deepEqual(window.errors, []);
});

test('a message that is longer than any of tabacus is dropped', async () => {
    const origin = new FakeOrigin();
    const [window, other] = [origin.window(), origin.window()];
    const tab = await open({ namespace: 'ours', window });
    const channel = new other.BroadcastChannel('tabacus/ours/news');
    const counter = tab.counter('c');
    for (const data of ['x'.repeat(12e6), { not: 'a text' }, 'x'.repeat(2 ** 22 + 1)])
        channel.postMessage(data);
    const sibling = await open({ namespace: 'ours', window: other });
    sibling.counter('c').add(3);
    await until(() => counter.value === 3);
    channel.close();
    await Promise.all([tab.close(), sibling.close()]);
    assert.deepEqual(window.errors, []);
});

test('a text for which a core has no memory is refused, and its allocator goes on', async () => {
    const { glue } = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    // The memory grows to 2 GiB: the first size exceeds it, the second exceeds it with its copy.
    for (const size of [2, 1.25]) assert.equal(glue.tab_buffer(size * 2 ** 30), 0);
    assert.notEqual(glue.tab_buffer(1024), 0);
});
