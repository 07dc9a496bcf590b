/** `shared.storage()`: a page and workers over one storage, and the page's localStorage beside it. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { spawnStorer } from '../programs/spawn-storer.node.js';

/** @typedef {import('tabacus/threads').ThreadsMemory} ThreadsMemory */

/** @type {(() => unknown)[]} */
const endings = [];
after(() => Promise.all(endings.map((end) => end())));

async function memory() {
    const shared = await threads();
    endings.push(() => shared.close());
    return shared;
}

/**
 * @param {ThreadsMemory} shared
 * @param {object} [options] of its storage()
 */
const startWorker = (shared, options) => spawnStorer(shared, endings, options);

/** The longest time that a busy machine needs. */
const timeout_ms = 10_000;

/** @param {() => unknown} condition */
async function until(condition) {
    const end_ms = performance.now() + timeout_ms;
    while (!(await condition())) {
        assert.ok(performance.now() < end_ms, `still not: ${condition}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
}

/** @param {ThreadsMemory} shared */
function eventsOf(shared) {
    /** @type {(string | null)[][]} */
    const events = [];
    shared.addEventListener('storage', (/** @type {any} */ { key, oldValue, newValue }) =>
        events.push([key, oldValue, newValue]),
    );
    return events;
}

test('all threads read at once what one has set, in the order in which keys were added', async () => {
    const shared = await memory();
    const [a, b] = [await startWorker(shared), await startWorker(shared)];
    const storage = await shared.storage();
    await a.call('set', 'b', '1');
    await b.call('set', 'a', '2');
    storage['c'] = /** @type {any} */ (3);
    await a.call('set', 'b', '4');
    for (const { call } of [a, b])
        assert.deepEqual(await call('items'), [
            ['b', '4'],
            ['a', '2'],
            ['c', '3'],
        ]);
    assert.deepEqual(Object.keys(storage), ['b', 'a', 'c']);
    assert.equal(storage.key(1), 'a');
    await b.call('remove', 'b');
    assert.equal(storage.length, 2);
    assert.equal(storage.getItem('b'), null);
    await a.call('clear');
    assert.deepEqual({ ...storage }, {});
    assert.equal(await a.call('capability'), 'memory');
    assert.equal(shared.capabilities.storage, 'memory');
});

test('it is a Storage to the letter: conversions, named properties, what they shadow, every unit', async () => {
    const storage = await (await memory()).storage();
    assert.equal(Object.prototype.toString.call(storage), '[object Storage]');
    storage.setItem(/** @type {any} */ (undefined), /** @type {any} */ (null));
    assert.equal(storage.getItem('undefined'), 'null');
    storage.setItem('getItem', 'shadowed');
    assert.equal(typeof storage.getItem, 'function');
    assert.equal(storage.getItem('getItem'), 'shadowed');
    assert.throws(() => /** @type {any} */ (storage).setItem('k'), TypeError);
    assert.throws(() => storage.setItem('k', /** @type {any} */ (Symbol('s'))), TypeError);
    const odd = '\ud800\0\udc00\uffff';
    for (const length of [0, 1, 25, 26, 27, 55, 56, 57, 5000]) {
        const text = odd.repeat(length).slice(0, length);
        storage.setItem(text, text + odd);
        assert.equal(storage.getItem(text), text + odd);
        assert.ok(Object.keys(storage).includes(text));
    }
    assert.ok(delete storage['undefined']);
    assert.ok(!('undefined' in storage));
});

test('a change is an event in every other thread, with both values, and none where nothing changed', async () => {
    const shared = await memory();
    const storage = await shared.storage();
    const [a, b] = [await startWorker(shared), await startWorker(shared)];
    const events = eventsOf(shared);
    await a.call('set', 'k', '1');
    await a.call('set', 'k', '1');
    await a.call('remove', 'none');
    await b.call('set', 'k', '2');
    storage.setItem('page', 'p');
    await b.call('clear');
    const all = [
        ['k', null, '1'],
        ['k', '1', '2'],
        ['page', null, 'p'],
        [null, null, null],
    ];
    await until(() => events.length === 3);
    await until(async () => (await a.call('events')).length === 3);
    await until(async () => (await b.call('events')).length === 2);
    assert.deepEqual(events, [all[0], all[1], all[3]]);
    assert.deepEqual(await a.call('events'), all.slice(1));
    assert.deepEqual(await b.call('events'), [all[0], all[2]]);
});

test('a thread that falls behind gets an event that it has missed something', async () => {
    const shared = await memory();
    const storage = await shared.storage();
    const events = eventsOf(shared);
    const { call, worker } = await startWorker(shared);
    const hammered = call('hammer', 'w', 6000);
    worker.postMessage({ method: 'set', args: ['done', 'yes'] });
    const end_ms = performance.now() + timeout_ms;
    while (storage.getItem('done') === null) assert.ok(performance.now() < end_ms); // the page's loop does not turn
    assert.equal(await hammered, 0);
    await until(() => events.length > 0);
    assert.deepEqual(events[0], [null, null, null]);
});

test('no thread gets events of its own writes, however many in one turn', async () => {
    const shared = await memory();
    const storage = await shared.storage();
    const events = eventsOf(shared);
    for (let i = 0; i < 5000; i++) storage.setItem('k', String(i));
    const { call, worker } = await startWorker(shared);
    worker.postMessage({ method: 'set', args: ['worker', 'w'] });
    const end_ms = performance.now() + timeout_ms;
    // The page's loop does not turn: its own change follows one of the worker's that it has not read.
    while (storage.getItem('worker') === null) assert.ok(performance.now() < end_ms);
    storage.setItem('page', 'p');
    await call('set', 'last', 'l');
    await until(() => events.length > 1);
    assert.deepEqual(events, [
        ['worker', null, 'w'],
        ['last', null, 'l'],
    ]);
});

test('a value that does not fit throws QuotaExceededError, and leaves the old value', async () => {
    const shared = await memory();
    const { call } = await startWorker(shared, { quota_bytes: 100 });
    const storage = await shared.storage();
    storage.setItem('key', 'x'.repeat(47));
    await assert.rejects(call('set', 'key', 'y'.repeat(48)), { name: 'QuotaExceededError' });
    assert.throws(() => storage.setItem('k', ''), { name: 'QuotaExceededError', code: 22 });
    assert.throws(() => storage.setItem('k', 'y'.repeat(2 ** 21)), { name: 'QuotaExceededError' });
    assert.equal(await call('get', 'key'), 'x'.repeat(47));
    assert.equal(storage.length, 1);
    await assert.rejects(shared.storage({ quota_bytes: 101 }), { code: 'kind-mismatch' });
    assert.equal(await shared.storage({ quota_bytes: 100 }), storage);
    for (const quota_bytes of [-1, 0.5, 2 ** 24 + 1, '5']) {
        await assert.rejects(shared.storage(/** @type {any} */ ({ quota_bytes })), {
            code: 'invalid-argument',
        });
    }
    await assert.rejects(shared.storage(/** @type {any} */ ({ quota: 1 })), { code: 'invalid-argument' });
});

test('five million units fit, as in localStorage', async () => {
    const storage = await (await memory()).storage();
    const large = '0123456789'.repeat(524_000);
    storage.setItem('x-large', large);
    assert.equal(storage.getItem('x-large'), large);
    assert.throws(() => storage.setItem('more', large), { name: 'QuotaExceededError' });
});

test('threads that hammer it at once each find what they wrote', async () => {
    const shared = await memory();
    const storage = await shared.storage();
    const workers = await Promise.all(['a', 'b', 'c'].map(() => startWorker(shared)));
    const wrong = workers.map(({ call }, index) => call('hammer', `w${index}`, 3000));
    for (let i = 0; i < 2000; i++) {
        storage.setItem('page', String(i));
        assert.equal(storage.getItem('page'), String(i));
        if (i % 100 === 0) await nextMacrotask();
    }
    assert.deepEqual(await Promise.all(wrong), [0, 0, 0]);
    for (const { call } of workers) assert.deepEqual(await call('items'), Object.entries(storage));
});

test('a worker that is terminated while it writes keeps nobody out', async () => {
    const shared = await memory();
    const storage = await shared.storage();
    const witness = await startWorker(shared);
    for (let i = 0; i < 12; i++) {
        const { call, worker } = await startWorker(shared);
        void call('write', `w${i}`).catch(() => {});
        await until(() => Object.keys(storage).some((key) => key.startsWith(`w${i}/`)));
        await worker.terminate();
        storage.setItem('still', String(i));
        assert.equal(await witness.call('get', 'still'), String(i));
        for (const [key, value] of Object.entries(storage)) {
            const own = key.split('/')[0];
            assert.ok(
                key === 'still' || value === '' || value.startsWith(`${own} `),
                `${key}: ${value.slice(0, 30)}`,
            );
        }
    }
});

test('a closed attachment has no storage any more; the others have', async () => {
    const shared = await memory();
    const { call } = await startWorker(shared);
    await call('set', 'k', 'v');
    await call('close');
    await assert.rejects(call('get', 'k'), { code: 'closed' });
    const storage = await shared.storage();
    assert.equal(storage.getItem('k'), 'v');
    shared.close();
    assert.throws(() => storage.getItem('k'), { code: 'closed' });
    await assert.rejects(shared.storage(), { code: 'closed' });
});

/** What is a page's window until the next call. */
async function pageWithOther() {
    const origin = await createOrigin({ url: 'https://example.com/', clock: 'real' });
    endings.push(() => origin.close());
    const [tab, other] = [origin.openTab(), origin.openTab()];
    Object.defineProperty(globalThis, 'window', { value: tab.window, configurable: true });
    endings.push(() => Reflect.deleteProperty(globalThis, 'window'));
    return { origin, tab, other };
}

test('a page’s localStorage mirrors it, and what other tabs write comes back', async () => {
    const { origin, tab, other } = await pageWithOther();
    tab.window.localStorage.setItem('before', '1');
    tab.window.localStorage.setItem('length', 'shadowed');
    const shared = await memory();
    const { call } = await startWorker(shared);
    const storage = await shared.storage();
    const events = eventsOf(shared);
    assert.equal(shared.capabilities.storage, 'mirrored');
    assert.deepEqual(await call('items'), [['before', '1']]);
    assert.equal(await call('get', 'length'), 'shadowed');

    /** @type {(string | null)[][]} */
    const otherEvents = [];
    other.window.addEventListener('storage', (/** @type {any} */ { key, newValue }) =>
        otherEvents.push([key, newValue]),
    );
    storage.setItem('page', 'p');
    assert.equal(tab.window.localStorage.getItem('page'), 'p');
    for (const value of ['1', '2', '3']) await call('set', 'worker', value);
    await call('remove', 'before');
    await until(() => otherEvents.length === 5);
    assert.deepEqual(otherEvents, [
        ['page', 'p'],
        ['worker', '1'],
        ['worker', '2'],
        ['worker', '3'],
        ['before', null],
    ]);

    other.window.localStorage.setItem('other', 'o');
    await until(async () => (await call('get', 'other')) === 'o');
    await until(() => events.some(([key]) => key === 'other'));
    assert.ok(otherEvents.length === 5, 'what came from there is not written back');
    other.window.localStorage.clear();
    await until(async () => (await call('items')).length === 0);

    origin.setQuota(10);
    await call('set', 'much', 'more than ten bytes');
    await until(() => shared.capabilities.storage === 'behind');
    assert.equal(tab.window.localStorage.getItem('much'), null);
    await call('set', 'much', 'less');
    await until(() => shared.capabilities.storage === 'mirrored');
    assert.equal(tab.window.localStorage.getItem('much'), 'less');
});

test('capabilities describe how localStorage relates to it, whichever thread has asked for it', async () => {
    await pageWithOther();
    const shared = await memory();
    assert.equal(shared.capabilities.storage, undefined);
    const { call } = await startWorker(shared);
    const bystander = await attach(shared.handle);
    assert.deepEqual([shared.capabilities.storage, bystander.capabilities.storage], ['mirrored', 'mirrored']);
    assert.deepEqual({ ...shared.capabilities }, { storage: 'mirrored' });
    assert.equal(await call('capability'), 'mirrored');
    bystander.close();
});

test('a full storage takes nothing from localStorage, and has what did not fit when there is space', async () => {
    const { localStorage } = (await pageWithOther()).tab.window;
    localStorage.setItem('small', 's'.repeat(2000));
    localStorage.setItem('x-large', 'l'.repeat(9000));
    const shared = await memory();
    const storage = await shared.storage({ quota_bytes: 20_000 });
    assert.deepEqual(Object.keys(storage), ['small']);
    assert.equal(shared.capabilities.storage, 'behind');
    const attached = await attach(shared.handle);
    const theirs = await attached.storage();
    for (let i = 0; i < 5000; i++) theirs.setItem('many', String(i)); // the page misses some
    attached.close();
    storage.removeItem('many');
    assert.deepEqual(Object.keys(localStorage).sort(), ['small', 'x-large']);
    const keys = Array.from({ length: 1000 }, (_, i) => String(i));
    assert.throws(() => keys.forEach((key) => storage.setItem(key, '')), { name: 'QuotaExceededError' });
    const kept = Object.keys(storage).filter((key) => key !== 'small');
    assert.ok(kept.every((key) => storage.getItem(key) === '' && localStorage.getItem(key) === ''));
    assert.equal(localStorage.getItem('x-large'), 'l'.repeat(9000));
    for (const key of kept) storage.removeItem(key);
    storage.removeItem('small');
    assert.deepEqual(Object.entries(storage), [['x-large', 'l'.repeat(9000)]]);
    assert.deepEqual(Object.keys(localStorage), ['x-large']);
    assert.equal(shared.capabilities.storage, 'mirrored');
});

test('a page that falls behind writes what threads have changed, and not what another tab has since', async () => {
    const { tab, other } = await pageWithOther();
    const { localStorage } = tab.window;
    localStorage.setItem('cart', 'old');
    const shared = await memory();
    const storage = await shared.storage();
    const attached = await attach(shared.handle);
    const theirs = await attached.storage();
    const heldAtFirst = Object.fromEntries(Object.entries(storage));
    for (let i = 1; i <= 5000; i++) theirs.setItem('n', String(i)); // the page misses some
    other.window.localStorage.setItem('cart', 'new');
    other.window.localStorage.setItem('fresh', '1');
    await until(() => localStorage.getItem('n') === '5000' && storage.getItem('cart') !== 'old');
    const wanted = Object.entries({ ...heldAtFirst, cart: 'new', fresh: '1', n: '5000' }).sort();
    await until(() => Object.keys(storage).length === wanted.length);
    assert.deepEqual(Object.entries(storage).sort(), wanted);
    assert.deepEqual(Object.entries(localStorage).sort(), wanted);
    attached.close();
});

test('a write at a pagehide within setItem, removeItem or clear is not overwritten by the one under way', async () => {
    const { tab } = await pageWithOther();
    const { localStorage } = tab.window;
    const shared = await memory();
    const storage = await shared.storage();
    const attached = await attach(shared.handle);
    const theirs = await attached.storage();
    const prototype = Object.getPrototypeOf(localStorage);
    for (const method of ['setItem', 'removeItem', 'clear']) {
        storage.setItem('k', 'old');
        const real = prototype[method];
        prototype[method] = function (/** @type {string[]} */ ...given) {
            prototype[method] = real;
            theirs.setItem('k', `newer than ${method}`);
            tab.window.dispatchEvent(new Event('pagehide')); // as Firefox does
            return real.apply(this, given);
        };
        if (method === 'clear') storage.clear();
        else if (method === 'removeItem') storage.removeItem('k');
        else storage.setItem('k', 'older');
        assert.equal(prototype[method], real);
        assert.equal(storage.getItem('k'), `newer than ${method}`);
        assert.equal(localStorage.getItem('k'), `newer than ${method}`);
    }
    attached.close();
});

test('a write by a thread while the page reads what another tab has written is not left behind', async () => {
    const { tab, other } = await pageWithOther();
    const { localStorage } = tab.window;
    const shared = await memory();
    const storage = await shared.storage();
    const attached = await attach(shared.handle);
    const theirs = await attached.storage();
    const events = eventsOf(shared);
    for (const act of [
        () => theirs.setItem('k', 'thread'),
        () => theirs.clear(),
        () => theirs.removeItem('k'),
    ]) {
        const prototype = Object.getPrototypeOf(localStorage);
        const { getItem } = prototype;
        prototype.getItem = function (/** @type {string} */ key) {
            prototype.getItem = getItem;
            const value = getItem.call(this, key);
            act(); // after the page has looked, and before it goes inside
            return value;
        };
        other.window.localStorage.setItem('k', String(events.length));
        await until(() => prototype.getItem === getItem);
        storage.setItem('fence', String(events.length)); // all that was before it is in localStorage
        assert.deepEqual(Object.entries(localStorage).sort(), Object.entries(storage).sort());
        await until(() => events.length > 0);
    }
    attached.close();
});
