/** Counters over threads and tabs: pages of one process, each with a memory and Workers. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError, TabacusRangeError } from 'tabacus';
import { threads } from 'tabacus/threads';
import { firePage } from './page-waits.js';
import { openPages, startWorker } from './tab-pages.js';

/** @param {string} code */
const withCode = (code) => (/** @type {any} */ error) => {
    assert.equal(error.code, code, String(error));
    return true;
};

test('threads of two tabs count exactly, and each flush commits what its thread has added', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    const workers = await Promise.all([a, a, b, b].map(({ shared }) => startWorker(shared, t.after.bind(t))));
    await Promise.all(
        workers.map(async ({ call }, index) => {
            await call('add', 'n', 1, 20_000);
            await call('add', 'n', -index);
            await call(index % 2 ? 'flush' : 'flushAsync', 'n');
        }),
    );
    a.shared.tabCounter('n').add(7);
    await a.shared.tabCounter('n').flushAsync();
    a.tab.counter('n').add(50_000);
    await a.tab.counter('n').flush();
    const total = 4 * 20_000 - 6 + 7 + 50_000;
    assert.equal(await b.tab.counter('n').read(), total);
    assert.equal(await b.shared.tabCounter('n').read(), total);
    for (const { call } of workers) assert.equal(await call('read', 'n'), total);
    for (const { call } of workers) assert.equal(await call('value', 'n'), total);
});

test('the value of a thread has its own adds at once, and those of the page and of other tabs soon', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    const worker = await startWorker(a.shared, t.after.bind(t));
    assert.equal(await worker.call('add', 'n', 5), 5);
    const seen = worker.call('atLeast', 'n', 1_105);
    b.tab.counter('n').add(1_000);
    a.tab.counter('n').add(100);
    assert.equal(await seen, 1_105);
    assert.equal(a.tab.counter('n').value, 1_105);
    assert.equal(a.shared.tabCounter('n').value, 1_105);
});

test('the page gathers what a thread adds without being asked', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    const worker = await startWorker(shared, t.after.bind(t));
    for (const sum of [3, 6]) {
        await worker.call('add', 'n', 3);
        await new Promise((resolve) => {
            const stop = tab.counter('n').subscribe((value) => value === sum && resolve(value));
            t.after(() => stop());
        });
    }
});

test('a terminated worker loses nothing that its add() returned from', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    for (let round = 1; round <= 5; round++) {
        const worker = await startWorker(a.shared, t.after.bind(t));
        const added = new Int32Array(new SharedArrayBuffer(4));
        void worker.call('addForEver', `n${round}`, added).catch(() => {});
        while (Atomics.load(added, 0) < 1_000 * round) await new Promise((turn) => setTimeout(turn, 1));
        await worker.terminate();
        const value = await a.shared.tabCounter(`n${round}`).read();
        const returned = Atomics.load(added, 0);
        assert.ok(value === returned || value === returned + 1, `${value} of ${returned}`);
        await a.shared.tabCounter(`n${round}`).flushAsync();
        assert.equal(await b.tab.counter(`n${round}`).read(), value);
    }
});

test('a tab that is closed commits what its threads had added, though they did not flush', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    const counter = a.shared.tabCounter('n');
    counter.add(1);
    await counter.flushAsync();
    counter.add(41);
    await a.tab.close();
    assert.equal(await b.tab.counter('n').read(), 42);
});

test('a page that is left commits what its threads had added, though they did not flush', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    const counter = a.shared.tabCounter('n');
    counter.add(1);
    await counter.flushAsync();
    counter.add(41);
    firePage(a.window, 'pagehide');
    while ((await b.tab.counter('n').read()) !== 42) await new Promise((turn) => setTimeout(turn, 1));
    firePage(a.window, 'pageshow');
    counter.add(1);
    await counter.flushAsync();
    assert.equal(await b.tab.counter('n').read(), 43);
});

test('closing the memory gathers for the last time', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    shared.tabCounter('n').add(1);
    await shared.tabCounter('n').flushAsync();
    shared.tabCounter('n').add(2);
    shared.close();
    assert.equal(tab.counter('n').value, 3);
    await tab.counter('n').flush();
});

test('closing the memory also gathers what was never gathered before', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    await shared.tabCounter('n').flushAsync();
    shared.tabCounter('m').add(2);
    shared.close();
    assert.equal(tab.counter('m').value, 2);
    await tab.counter('m').flush();
});

test('a flush fails with the reason of the page, and within its timeout', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    const worker = await startWorker(shared, t.after.bind(t));
    await worker.call('add', 'n', 1);
    const flushing = worker.call('flushAndMark', 'n', { timeout: 0 }, 'ended');
    // The page does not answer, since this loop keeps its thread busy.
    while (shared.tabCounter('ended').value === 0);
    await assert.rejects(flushing, { name: 'TimeoutError' });
    await tab.close();
    await assert.rejects(worker.call('flush', 'n'), withCode('closed'));
    await assert.rejects(worker.call('read', 'n'), withCode('closed'));
    await assert.rejects(shared.tabCounter('n').flushAsync(), withCode('closed'));
});

test('a wrong argument or state is an error at once', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    const counter = shared.tabCounter('n');
    assert.equal(shared.tabCounter('n'), counter);
    assert.equal(counter.name, 'n');
    shared.counter('n').add(1); // has a namespace of its own
    for (const n of [0.5, NaN, '1', null, 2 ** 53]) {
        assert.throws(() => counter.add(/** @type {any} */ (n)), withCode('invalid-argument'));
    }
    assert.throws(() => counter.flush(), withCode('would-block'));
    assert.throws(() => counter.subscribe(/** @type {any} */ (1)), withCode('invalid-argument'));
    await assert.rejects(counter.flushAsync({ timeout: -1 }), withCode('invalid-argument'));
    const reason = new Error('no longer');
    await assert.rejects(counter.flushAsync({ signal: AbortSignal.abort(reason) }), reason);
    const alone = await threads();
    assert.throws(() => alone.tabCounter('n'), withCode('unavailable'));
    alone.close();
    counter.add(3);
    shared.close();
    assert.throws(() => counter.add(1), withCode('closed'));
    assert.throws(() => counter.value, withCode('closed'));
    await assert.rejects(counter.read(), withCode('closed'));
    assert.throws(() => shared.tabCounter('n'), withCode('closed'));
    await tab.close();
});

test('an add that would leave the range is refused, and a sum that has left it cannot be flushed', async (t) => {
    const [{ tab, shared }] = await openPages(1, t.after.bind(t));
    const counter = shared.tabCounter('n');
    const most = Number.MAX_SAFE_INTEGER;
    counter.add(most);
    assert.throws(() => counter.add(1), TabacusRangeError);
    assert.equal(counter.value, most);
    await counter.flushAsync();
    counter.add(-1);
    tab.counter('n').add(0);
    await counter.flushAsync();
    assert.equal(tab.counter('n').value, most - 1);
    counter.add(1);
    // The page has not gathered that one yet, and adds as another tab would.
    tab.counter('n').add(1);
    await assert.rejects(counter.flushAsync(), (error) => {
        assert.ok(error instanceof TabacusRangeError && error instanceof TabacusError);
        return true;
    });
    counter.add(-10);
    await counter.flushAsync();
    assert.equal(await tab.counter('n').read(), most - 9);
});

test('two memories of one tab, and two tabs of one engine, count in one counter', async (t) => {
    const [{ window, tab, shared }] = await openPages(1, t.after.bind(t));
    const twin = await open({ window });
    const others = [await threads({ tab }), await threads({ tab: twin })];
    for (const memory of [shared, ...others]) memory.tabCounter('n').add(1);
    for (const memory of [shared, ...others]) await memory.tabCounter('n').flushAsync();
    assert.equal(await tab.counter('n').read(), 3);
    await tab.lock('l').run(() => {}); // coordination, which has calls of its own
    for (const memory of [shared, ...others]) memory.tabCounter('n').add(1);
    for (const memory of [shared, ...others]) await memory.tabCounter('n').flushAsync();
    assert.equal(await twin.counter('n').read(), 6);
    for (const memory of others) memory.close();
    await twin.close();
});

test('C++ threads add to the same counter', async (t) => {
    const [a, b] = await openPages(2, t.after.bind(t));
    const counter = a.shared.tabCounter('n');
    await a.shared.hammer(counter, { threads: 3, adds: 10_000, amount: -2 });
    counter.add(1);
    assert.equal(counter.value, -59_999);
    await counter.flushAsync();
    assert.equal(await b.tab.counter('n').read(), -59_999);
    await assert.rejects(b.shared.hammer(counter, { threads: 1, adds: 1 }), withCode('invalid-argument'));
});
