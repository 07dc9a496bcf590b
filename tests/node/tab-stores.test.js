/** Two tabs of one origin in this process, and the faults that its stores can have. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { details, firePage, settled } from './page-waits.js';
import { testOrigin } from './test-origin.js';
import { failsWith } from './expected-errors.js';

test('two tabs count exactly and see each other, and a third tab reads the total', async () => {
    const origin = await testOrigin();
    const [a, b] = await Promise.all([open({ window: origin.window() }), open({ window: origin.window() })]);
    assert.deepEqual(a.capabilities, {
        store: 'indexeddb',
        exclusion: 'web-locks',
        durability: 'strict',
        mirror: true,
        opening: false,
        channel: true,
    });
    const [here, there] = [a.counter('c'), b.counter('c')];
    for (let i = 0; i < 1000; i++) {
        here.add(2);
        there.add(-1);
        if (i % 100 === 0) await here.flush();
    }
    await Promise.all([here.flush(), there.flush()]);
    assert.equal(await here.read(), 1000);
    assert.equal(await there.read(), 1000);
    await origin.until(() => here.value === 1000 && there.value === 1000);
    await a.close();
    there.add(1);
    await b.close();
    const c = await open({ window: origin.window() });
    assert.equal(await c.counter('c').read(), 1001);
    await c.close();
    assert.deepEqual(await origin.heldLocks(), []);
});

test('open(), one add and its flush cost two transactions, whether the database exists or not', async () => {
    const origin = await testOrigin();
    for (const pause_ms of [undefined, undefined, 20]) {
        const before = origin.transactions.length;
        const tab = await open({ window: origin.window() });
        const counter = tab.counter('c');
        // The rows are read when the counter is made; a later add and its flush read nothing more.
        if (pause_ms) await origin.sleep(pause_ms);
        counter.add(1);
        await counter.flush();
        await origin.sleep(20); // time for transactions that might follow
        const begun = origin.transactions.slice(before);
        assert.deepEqual(
            begun.map(({ mode }) => mode),
            ['readonly', 'readwrite'],
        );
        await tab.close();
    }
    const reader = await open({ window: origin.window() });
    assert.equal(await reader.counter('c').read(), 3);
    await reader.close();
});

test('transactional, locked and naive counters work over the stores, and are independent of each other', async () => {
    const origin = await testOrigin({ storage: 'mutexed' });
    const [a, b] = await Promise.all([open({ window: origin.window() }), open({ window: origin.window() })]);
    for (const strategy of /** @type {const} */ (['transactional', 'locked', 'naive'])) {
        const [here, there] = [a.counter('c', { strategy }), b.counter('c', { strategy })];
        const adds = [];
        for (let i = 0; i < 20; i++) adds.push(here.add(1), there.add(2));
        const values = await Promise.all(adds);
        assert.equal(Math.max(...values), 60, strategy);
        assert.equal(await here.read(), 60, strategy);
        await assert.rejects(here.add(2 ** 53 - 1), failsWith('out-of-range'), strategy);
        await assert.rejects(here.add(/** @type {any} */ ('1')), failsWith('invalid-argument'), strategy);
        assert.equal(await there.read(), 60, strategy);
    }
    await a.close();
    await b.close();
});

test('counters of different namespaces are independent', async () => {
    const origin = await testOrigin();
    const a = await open({ window: origin.window(), namespace: 'a/b %' });
    const b = await open({ window: origin.window(), namespace: 'a' });
    a.counter('c').add(1);
    await a.counter('c').flush();
    assert.equal(await b.counter('c').read(), 0);
    await a.close();
    await b.close();
});

test('records that cannot be read are quarantined with one warning each, and all others count', async () => {
    const origin = await testOrigin();
    const first = await open({ window: origin.window() });
    first.counter('c').add(5);
    await first.close();
    const [key] = await origin.records('default', 'rows', (rows) => rows.getAllKeys());
    const prefix = String(key).slice(0, String(key).lastIndexOf('/') + 1);
    assert.ok(prefix.length > 1, `a row's key, ${key}, ends with its slot`);
    for (const [suffix, value] of /** @type {const} */ ([
        ['x1', 'garbage'],
        ['x2', { an: 'object' }],
        ['x3', 7],
    ])) {
        await origin.records('default', 'rows', (rows) => rows.put(value, prefix + suffix));
    }
    const tab = await open({ window: origin.window() });
    const counter = tab.counter('c');
    assert.equal(await counter.read(), 5);
    const warnings = details(tab, 'warning'); // a late listener misses no warning
    counter.add(1);
    await counter.flush();
    assert.equal(await counter.read(), 6);
    await nextMacrotask();
    assert.deepEqual(
        warnings.map(({ code }) => code),
        ['corrupt-record', 'corrupt-record', 'corrupt-record'],
    );
    assert.equal(new Set(warnings.map(({ subject }) => subject)).size, 3);
    await tab.close();
});

test('a claim under an impossible key keeps no slot', async () => {
    for (const key of [5, [1], '\ud800x']) {
        const origin = await testOrigin();
        const first = await open({ window: origin.window() });
        first.counter('c').add(1);
        await first.close();
        await origin.records('default', 'claims', (claims) => claims.clear());
        await origin.records('default', 'claims', (claims) => claims.put({ subject: 'slot/0' }, key));
        const tab = await open({ window: origin.window() });
        const warnings = details(tab, 'warning');
        tab.counter('c').add(1);
        await tab.counter('c').flush();
        await origin.until(() => warnings.length > 0);
        await tab.close();
        const later = await open({ window: origin.window() });
        assert.equal(await later.counter('c').read(), 2);
        await later.close();
        assert.deepEqual(
            warnings.map(({ code, subject }) => [code, subject]),
            [['corrupt-record', 'claims ?']],
        );
    }
});

test('a tab closes its connection for an upgrade and for a deletion, and goes on counting', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const lost = details(tab, 'storelost');
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    const newer = await origin.connect('tabacus/default', { version: 9 });
    newer.close();
    counter.add(1);
    await counter.flush();
    assert.equal(await counter.read(), 2);
    assert.equal(lost.length, 0);
    await settled(origin.indexedDB.deleteDatabase('tabacus/default'));
    counter.add(1);
    await counter.flush();
    assert.equal(await counter.read(), 3);
    await origin.until(() => lost.length > 0);
    assert.equal(lost.length, 1);
    assert.ok(lost[0].generation && lost[0].previous && lost[0].generation !== lost[0].previous);
    await tab.close();
});

test('a tab reconnects after the browser has dropped its connection', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const counter = tab.counter('c');
    const orders = tab.counter('orders', { strategy: 'transactional' });
    counter.add(1);
    await counter.flush();
    for (let round = 0; round < 5; round++) {
        counter.add(1);
        origin.emulated.closeConnections();
        await counter.flush();
        assert.equal(await orders.add(1), round + 1);
    }
    assert.equal(await counter.read(), 6);
    await tab.close();
});

test('a commit cut off by a dropped connection is neither lost nor counted twice', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    let cuts = 0;
    origin.onWrite = () => {
        if (cuts++ < 2) queueMicrotask(() => origin.emulated.closeConnections());
    };
    counter.add(10);
    await counter.flush();
    assert.ok(cuts > 2, 'two transactions were cut off, and others did their work');
    const other = await open({ window: origin.window() });
    assert.equal(await other.counter('c').read(), 11);
    await other.close();
    await tab.close();
});

test('a transactional add whose outcome is unknown rejects with unknown-commit', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const counter = tab.counter('c', { strategy: 'transactional' });
    assert.equal(await counter.add(1), 1);
    // The connection is dropped after the put, and so after commit() was called.
    origin.onWrite = (transaction) => {
        const { objectStore } = transaction;
        transaction.objectStore = (/** @type {string} */ name) => {
            const store = objectStore.call(transaction, name);
            const put = store.put.bind(store);
            store.put = (/** @type {any[]} */ ...args) => {
                queueMicrotask(() => transaction._abort('AbortError'));
                return put(...args);
            };
            return store;
        };
    };
    await assert.rejects(counter.add(1), failsWith('unknown-commit'));
    await tab.close();
});

test('a full store rejects flush, keeps the increments, and takes them when there is space', async () => {
    const origin = await testOrigin();
    const tab = await open({ window: origin.window() });
    const warnings = details(tab, 'warning');
    const counter = tab.counter('c');
    const orders = tab.counter('orders', { strategy: 'transactional' });
    counter.add(1);
    await counter.flush();
    // Chromium, too, sets tx.error and fires no event at any request.
    origin.onWrite = (transaction) => setImmediate(() => transaction._abort('QuotaExceededError'));
    counter.add(1);
    await assert.rejects(counter.flush(), failsWith('quota-exceeded'));
    await assert.rejects(orders.add(1), failsWith('quota-exceeded'));
    assert.equal(counter.value, 2);
    await origin.until(() => warnings.some(({ code }) => code === 'quota-exceeded'));
    origin.onWrite = () => {};
    await counter.flush();
    assert.equal(await counter.read(), 2);
    assert.equal(await orders.read(), 0);
    await tab.close();
});

test('a page that is left commits at once and releases everything, and counts on when it is restored', async () => {
    const origin = await testOrigin();
    const window = origin.window();
    const tab = await open({ window });
    const other = await open({ window: origin.window() });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    const held = (await origin.heldLocks()).length;
    counter.add(1);
    firePage(window, 'pagehide');
    await origin.until(async () => (await origin.heldLocks()).length < held);
    await origin.until(() => other.counter('c').value === 2);
    assert.equal(await other.counter('c').read(), 2);
    other.counter('c').add(5);
    await other.counter('c').flush();
    firePage(window, 'pageshow');
    assert.equal(await counter.read(), 7);
    counter.add(1);
    await counter.flush();
    assert.equal(await other.counter('c').read(), 8);
    await tab.close();
    await other.close();
    assert.deepEqual(origin.errors, []);
});
