/** Subscriptions, iteration and closing: which functions a tab calls, and which of their errors must not disturb it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { testOrigin } from './test-origin.js';

test('a subscriber gets the value at once and once a turn, until it unsubscribes', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    counter.add(1);
    /** @type {number[]} */
    const seen = [];
    const stop = counter.subscribe((value) => seen.push(value));
    assert.deepEqual(seen, [1]);
    for (let i = 0; i < 10; i++) counter.add(1);
    await counter.flush();
    assert.deepEqual(seen, [1, 11]);
    stop();
    stop();
    counter.add(1);
    await counter.flush();
    assert.deepEqual(seen, [1, 11]);
    await tab.close();
});

test('one function subscribed twice is two subscriptions', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    let calls = 0;
    const subscriber = () => void calls++;
    const stop = counter.subscribe(subscriber);
    counter.subscribe(subscriber);
    stop();
    counter.add(1);
    await counter.flush();
    assert.equal(calls, 3);
    await tab.close();
});

test('the error of a subscriber is reported, and other subscribers are called', async () => {
    const origin = await testOrigin();
    const window = origin.window();
    const tab = await open({ window });
    const counter = tab.counter('c');
    const fault = new Error('mine');
    counter.subscribe(() => {
        throw fault;
    });
    /** @type {number[]} */
    const seen = [];
    counter.subscribe((value) => seen.push(value));
    counter.add(1);
    await counter.flush();
    assert.deepEqual(seen, [0, 1]);
    assert.deepEqual(origin.errors, [fault, fault]);
    await tab.close();
});

test('a subscriber may add, unsubscribe and open counters', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    const stop = counter.subscribe((value) => {
        if (value === 0) return;
        tab.counter(`other ${value}`).add(1);
        if (value < 3) counter.add(1);
        else stop();
    });
    counter.add(1);
    await counter.flush();
    await counter.flush();
    await counter.flush();
    assert.equal(counter.value, 3);
    assert.equal(tab.counter('other 2').value, 1);
    await tab.close();
});

test('iteration gives the current value, then the latest, and ends when the tab is closed', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    counter.add(1);
    const values = counter[Symbol.asyncIterator]();
    assert.deepEqual(await values.next(), { done: false, value: 1 });
    const waiting = values.next();
    counter.add(1);
    assert.deepEqual(await waiting, { done: false, value: 2 });
    counter.add(1);
    await counter.flush();
    counter.add(1);
    await counter.flush();
    assert.deepEqual(await values.next(), { done: false, value: 4 });
    const last = values.next();
    const ended = values.next();
    counter.add(1);
    await tab.close();
    assert.deepEqual(await last, { done: false, value: 5 }, 'the iteration has the value of the last add');
    assert.deepEqual(await ended, { done: true, value: undefined });
    assert.deepEqual(await values.next(), { done: true, value: undefined });
});

test('leaving a loop early ends the iteration', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    for await (const value of counter) {
        assert.equal(value, 0);
        break;
    }
    const values = counter[Symbol.asyncIterator]();
    await values.next();
    const waiting = values.next();
    await values.return?.();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    await tab.close();
});

test('close() commits pending increments and settles open calls', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const counter = tab.counter('c');
    counter.add(7);
    const outcomes = Promise.allSettled([counter.read(), counter.flush(), counter.flush()]);
    await tab.close();
    const [, first, second] = await outcomes;
    assert.equal(first?.status, 'fulfilled');
    assert.equal(second?.status, 'fulfilled');
    const other = await open({ window: origin.window() });
    assert.equal(await other.counter('c').read(), 7);
    await other.close();
    assert.deepEqual(await origin.heldLocks(), []);
});

test('await using closes the tab', async () => {
    const tab = await open();
    const symbol = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
    await /** @type {any} */ (tab)[symbol]();
    assert.throws(() => tab.counter('c'), { code: 'closed' });
});
