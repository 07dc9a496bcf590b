/** Locks over tabs for workers that block: two tabs of one process, each with a memory and workers. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TabacusError } from 'tabacus';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { openPages, startWorker as startLocker } from './tab-pages.js';

/** @typedef {import('tabacus/threads').ThreadsMemory} ThreadsMemory */

/** @type {(() => unknown)[]} */
const endings = [];
after(() => Promise.all(endings.map((end) => end())));

/** @param {() => unknown} end */
const ending = (end) => void endings.push(end);

/** @param {number} count */
const pages = (count) => openPages(count, ending);
/** @param {ThreadsMemory} shared */
const startWorker = (shared) => startLocker(shared, ending);

/** @param {() => Promise<boolean>} condition */
async function until(condition) {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** @param {string} code */
const withCode = (code) => (/** @type {any} */ error) => {
    assert.equal(error.code, code, String(error));
    return true;
};

test('workers of two tabs that block count exactly, and their tokens rise', async () => {
    const [a, b] = await pages(2);
    const workers = await Promise.all([a, a, b, b].map(({ shared }) => startWorker(shared)));
    const plain = new Int32Array(new SharedArrayBuffer(4));
    const rounds = 50;
    const own = (async () => {
        for (let i = 0; i < rounds; i++) {
            const held = await a.shared.tabLock('l').lockAsync();
            const before = Number(plain[0]);
            await undefined;
            plain[0] = before + 1;
            held.unlock();
        }
    })();
    const tokens = (await Promise.all(workers.map(({ call }) => call('count', 'l', rounds, plain)))).flat();
    await own;
    assert.equal(plain[0], 5 * rounds);
    assert.equal(new Set(tokens).size, 4 * rounds);
    assert.ok(await b.tab.lock('l').run((held) => Number(held.token) > Math.max(...tokens)));
});

test('tabLock(name) is the same lock as tab.lock(name), and query() names its holder', async () => {
    const [{ tab, shared }] = await pages(1);
    const worker = await startWorker(shared);
    const token = await worker.call('lock', 'l');
    assert.equal(await worker.call('token', 'l'), token);
    assert.equal(await worker.call('held', 'l'), true);
    const [request] = await tab.lock('l').query();
    assert.match(String(request?.label), /^thread \d+$/);
    assert.equal(await tab.lock('l').run((held) => held, { ifAvailable: true }), null);
    await worker.call('unlock', 'l');
    assert.equal(await worker.call('held', 'l'), false);
    assert.equal(await worker.call('token', 'l'), undefined);
    assert.ok(Number(await tab.lock('l').run((held) => held.token)) > token);
});

test('a failed tryLock() and a timed-out lock() delay no other waiter', async () => {
    const [{ tab, shared }] = await pages(1);
    const worker = await startWorker(shared);
    const held = await tab.lock('l').acquire();
    assert.equal(await worker.call('tryLock', 'l'), false);
    await assert.rejects(worker.call('lock', 'l', { timeout: 5 }), { name: 'TimeoutError' });
    await assert.rejects(worker.call('lock', 'l', { timeout: 0 }), { name: 'TimeoutError' });
    await assert.rejects(shared.tabLock('l').lockAsync({ timeout: 3 }), { name: 'TimeoutError' });
    const abort = new AbortController();
    const waiting = shared.tabLock('l').lockAsync({ signal: abort.signal });
    abort.abort(new RangeError('enough'));
    await assert.rejects(waiting, RangeError);
    await assert.rejects(shared.tabLock('l').lockAsync({ signal: AbortSignal.abort() }), {
        name: 'AbortError',
    });
    held?.release();
    assert.equal(await worker.call('tryLock', 'l'), true);
    assert.equal(await worker.call('tryLock', 'l'), false);
    await worker.call('unlock', 'l');
    await until(async () => (await tab.lock('l').query()).length === 0);
});

test('terminating a worker releases its lock and withdraws its request', async () => {
    const [a, b] = await pages(2);
    const [holder, waiter, next] = await Promise.all([a, a, b].map(({ shared }) => startWorker(shared)));
    assert.ok(holder && waiter && next);
    const token = await holder.call('lock', 'l');
    void waiter.call('lock', 'l').catch(() => {});
    await until(async () => (await a.tab.lock('l').query()).length === 2);
    await waiter.terminate();
    const waiting = next.call('lock', 'l');
    await holder.terminate();
    assert.ok((await waiting) > token);
    await next.call('unlock', 'l');
    await until(async () => (await a.tab.lock('l').query()).length === 0);
});

test('closing an attachment releases its locks', async () => {
    const [{ tab, shared }] = await pages(1);
    const worker = await startWorker(shared);
    await worker.call('lock', 'l');
    await worker.call('close');
    assert.notEqual(await tab.lock('l').acquire(), null);
    await assert.rejects(worker.call('lock', 'l'), withCode('closed'));
});

test('the handle of a stolen lock is not held, and unlock() throws', async () => {
    const [{ tab, shared }, b] = await pages(2);
    const worker = await startWorker(shared);
    const token = await worker.call('lock', 'l');
    const grant = shared.tabLock('m').lockAsync();
    const held = await grant;
    for (const name of ['l', 'm']) (await b.tab.lock(name).acquire({ steal: true }))?.release();
    await until(async () => !(await worker.call('held', 'l')) && !held.held);
    await assert.rejects(worker.call('lock', 'l'), withCode('would-deadlock'));
    await assert.rejects(worker.call('unlock', 'l'), withCode('lock-lost'));
    await assert.rejects(worker.call('unlock', 'l'), withCode('not-owner'));
    held[Symbol.dispose]();
    assert.throws(() => held.unlock(), withCode('not-owner'));
    assert.ok((await worker.call('lock', 'l')) > token);
    assert.equal((await tab.lock('l').query()).length, 1);
});

test('holders lose their locks when the memory or the tab is closed, and later requests are refused', async () => {
    const [a, b] = await pages(2);
    const [one, two] = await Promise.all([a, b].map(({ shared }) => startWorker(shared)));
    assert.ok(one && two);
    await one.call('lock', 'l');
    a.shared.close();
    assert.equal(await one.call('held', 'l'), false);
    await assert.rejects(one.call('unlock', 'l'), withCode('lock-lost'));
    await assert.rejects(one.call('lock', 'l'), withCode('closed'));
    await two.call('lock', 'l');
    await b.tab.close();
    await assert.rejects(two.call('lock', 'other'), withCode('closed'));
    await until(async () => !(await two.call('held', 'l')));
    await assert.rejects(two.call('unlock', 'l'), withCode('lock-lost'));
});

test('C++ threads take the same lock by tabacus::TabMutex', async () => {
    const [{ shared }] = await pages(1);
    const worker = await startWorker(shared);
    const lock = shared.tabLock('l');
    const counter = shared.counter('plain', { kind: 'unsynchronised' });
    await shared.hammer(counter, { threads: 3, adds: 40, lock });
    assert.equal(counter.value, 120);
    await worker.call('lock', 'l');
    const added = shared.hammer(counter, { threads: 1, adds: 1, lock });
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(counter.value, 120);
    await worker.call('unlock', 'l');
    await added;
    assert.equal(counter.value, 121);
});

test('a wrong argument or state is an error at once', async () => {
    await assert.rejects(threads({ tab: /** @type {any} */ ({}) }), (error) => {
        assert.equal(/** @type {any} */ (error).argument, 'tab');
        return withCode('invalid-argument')(error);
    });
    const without = await threads();
    assert.throws(
        () => without.tabLock('l'),
        (error) => {
            assert.ok(error instanceof TabacusError);
            assert.match(error.message, /threads\(\{ tab/);
            return withCode('unavailable')(error);
        },
    );
    const [{ shared }] = await pages(1);
    const lock = shared.tabLock('l');
    assert.equal(shared.tabLock('l'), lock);
    assert.throws(() => shared.tabLock(''), withCode('invalid-argument'));
    assert.throws(() => lock.unlock(), withCode('not-owner'));
    assert.throws(() => lock.lock({ timeout: -1 }), withCode('invalid-argument'));
    await assert.rejects(
        lock.lockAsync(/** @type {any} */ ({ mode: 'shared' })),
        withCode('invalid-argument'),
    );
    await assert.rejects(
        attach(/** @type {any} */ ({ ...shared.handle, livenessPrefix: 7 })),
        withCode('invalid-argument'),
    );
    const counter = shared.counter('c');
    await assert.rejects(
        shared.hammer(counter, { threads: 1, adds: 1, lock: /** @type {any} */ ({}) }),
        withCode('invalid-argument'),
    );
    const held = await lock.lockAsync();
    assert.throws(() => lock.lock(), withCode('would-block'));
    assert.throws(() => lock.tryLock(), withCode('would-block'));
    assert.equal(lock.held, true);
    assert.equal(lock.token, held.token);
    lock.unlock();
    assert.equal(held.held, false);
});

test('lockAsync() with the timeout 0 is granted a free lock, and is a TimeoutError for a held one', async () => {
    const [first] = await pages(1);
    const lock = first?.shared.tabLock('at once');
    const grant = await lock?.lockAsync({ timeout: 0 });
    assert.equal(grant?.held, true);
    await assert.rejects(
        async () => lock?.lockAsync({ timeout: 0 }),
        (/** @type {any} */ error) => error.name === 'TimeoutError',
    );
    grant?.unlock();
    (await lock?.lockAsync({ timeout: 0 }))?.unlock();
});
