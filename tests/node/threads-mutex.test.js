/** The mutex between workers that block and a thread that awaits. If a wake-up is lost, a test hangs. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TabacusError, threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { addersAll, startAdders } from '../programs/adders.js';
import { spawn } from '../programs/spawn.node.js';

/** @type {import('tabacus/threads').ThreadsMemory} */
let shared;
/** @type {import('../programs/adders.js').Adder[]} */
let adders;

before(async () => {
    shared = await threads();
    adders = await startAdders(spawn, 3, shared.handle);
});

after(async () => {
    await Promise.all(adders.map((adder) => adder.terminate()));
    // What polls since the test without Atomics.waitAsync would keep the process alive.
    shared.close();
});

/** @param {string} code */
const withCode = (code) => (/** @type {unknown} */ error) => {
    assert.ok(error instanceof TabacusError);
    assert.equal(/** @type {any} */ (error).code, code);
    return true;
};

for (const how of /** @type {const} */ (['lock', 'timed', 'lockAsync'])) {
    test(`a mutex taken by ${how} excludes workers from each other`, async () => {
        const name = `unsynchronised under ${how}`;
        const adds = 5_000;
        const mutex = { name: `mutex of ${how}`, how };
        await addersAll(adders, { name, kind: 'unsynchronised', n: 1, adds, mutex });
        assert.equal(shared.counter(name).value, adders.length * adds);
        assert.equal(shared.mutex(mutex.name).locked, false);
    });
}

test('a wake-up that a terminated Worker received delays the next waiter by one sleep only', async () => {
    const { wait } = Atomics;
    const other = await attach(shared.handle);
    const [mutex, theirs] = [shared.mutex('taken along'), other.mutex('taken along')];
    theirs.lock();
    /** @type {unknown[]} */
    const slept_ms = [];
    Atomics.wait = /** @type {any} */ (
        (/** @type {unknown[]} */ ...given) => {
            slept_ms.push(given[3]);
            theirs.unlock(); // this wakes the dead thread
            return 'timed-out';
        }
    );
    try {
        mutex.lock({ timeout: 1e9 });
    } finally {
        Atomics.wait = wait;
    }
    assert.deepEqual(slept_ms, [100]);
    mutex.unlock();
    other.close();
});

test('asynchronous waiters of this thread and blocking ones of workers share a queue, and no update is lost', async () => {
    const name = 'mixed';
    const adds = 3_000;
    const mutex = { name: 'mixed mutex', how: /** @type {const} */ ('lock') };
    const added = addersAll(adders, { name, kind: 'unsynchronised', n: 1, adds, mutex });
    const [counter, lock] = [shared.counter(name, { kind: 'unsynchronised' }), shared.mutex(mutex.name)];
    const tasks = Array.from({ length: 5 }, async () => {
        for (let i = 0; i < 200; i++) {
            const held = await lock.lockAsync();
            const before = counter.add();
            await undefined;
            assert.equal(counter.value, before, 'no other task adds while this one holds the mutex');
            held.unlock();
        }
    });
    await Promise.all([added, ...tasks]);
    assert.equal(counter.value, adders.length * adds + 5 * 200);
});

test('tasks that abort or time out delay no other waiter', async () => {
    const name = 'given up';
    const adds = 3_000;
    const mutex = { name: 'given up mutex', how: /** @type {const} */ ('lock') };
    const added = addersAll(adders, { name, kind: 'unsynchronised', n: 1, adds, mutex });
    const lock = shared.mutex(mutex.name);
    const quitters = Array.from({ length: 4 }, async (_, index) => {
        for (let i = 0; i < 100; i++) {
            const abort = new AbortController();
            const options = index % 2 === 0 ? { signal: abort.signal } : { timeout: i % 3 };
            const waiting = lock.lockAsync(options).then(
                (held) => held.unlock(),
                (error) => assert.match(error.name, /AbortError|TimeoutError/),
            );
            await nextMacrotask();
            abort.abort();
            await waiting;
        }
    });
    await Promise.all([added, ...quitters]);
    assert.equal(shared.counter(name).value, adders.length * adds);
    (await lock.lockAsync()).unlock();
});

test('an aborted waiter passes the mutex to the next', async () => {
    const lock = shared.mutex('passed on');
    const first = await lock.lockAsync();
    const abort = new AbortController();
    const quitter = lock.lockAsync({ signal: abort.signal });
    const next = lock.lockAsync();
    first.unlock();
    abort.abort(new Error('changed my mind'));
    await quitter.then(
        (held) => held.unlock(),
        (error) => assert.equal(error.message, 'changed my mind'),
    );
    (await next).unlock();
    assert.equal(lock.locked, false);
});

// The aborted waiter stays the first in the queue, and receives the first wake-up.
test('an aborted waiter rejects at once, and holds up no sleeping waiter behind it', async () => {
    const lock = shared.mutex('abandoned');
    const other = await attach(shared.handle);
    other.mutex('abandoned').lock();
    const abort = new AbortController();
    const quitter = lock.lockAsync({ signal: abort.signal });
    const task = { name: 'behind the quitter', kind: /** @type {const} */ ('atomic'), n: 1, adds: 1 };
    const added = addersAll(adders.slice(0, 1), { ...task, mutex: { name: 'abandoned', how: 'lock' } });
    await asleepOn(lock);
    abort.abort();
    await assert.rejects(quitter, { name: 'AbortError' });
    assert.equal(lock.locked, true);
    other.mutex('abandoned').unlock();
    await added;
    assert.equal(shared.counter(task.name).value, 1);
});

test('a lockAsync() with an aborted signal rejects and changes nothing', async () => {
    const lock = shared.mutex('never begun');
    await assert.rejects(lock.lockAsync({ signal: AbortSignal.abort() }), { name: 'AbortError' });
    assert.equal(lock.locked, false);
});

test('a wait for a held mutex ends with a TimeoutError, blocking or asynchronous', async () => {
    const lock = shared.mutex('timeouts');
    const other = (await attach(shared.handle)).mutex('timeouts');
    other.lock();
    assert.throws(() => lock.lock({ timeout: 5 }), { name: 'TimeoutError' });
    assert.throws(() => lock.lock({ timeout: 0 }), { name: 'TimeoutError' });
    await assert.rejects(lock.lockAsync({ timeout: 5 }), { name: 'TimeoutError' });
    await assert.rejects(lock.lockAsync({ timeout: 0 }), { name: 'TimeoutError' });
    other.unlock();
    lock.lock({ timeout: 0 });
    lock.unlock();
});

test('only the owner can unlock a mutex, and only once', async () => {
    const lock = shared.mutex('owned');
    const other = (await attach(shared.handle)).mutex('owned');
    assert.throws(() => lock.unlock(), withCode('not-owner'));
    lock.lock();
    assert.throws(() => other.unlock(), withCode('not-owner'));
    assert.equal(lock.locked, true);
    lock.unlock();
    assert.throws(() => lock.unlock(), withCode('not-owner'));
    const held = await lock.lockAsync();
    assert.throws(() => other.unlock(), withCode('not-owner'));
    assert.equal(held.held, true);
    held.unlock();
    assert.throws(() => held.unlock(), withCode('not-owner'));
    assert.equal(held.held, false);
});

test('a grant that was released cannot release the next one', async () => {
    const lock = shared.mutex('grants');
    const first = await lock.lockAsync();
    lock.unlock();
    const second = await lock.lockAsync();
    assert.throws(() => first.unlock(), withCode('not-owner'));
    first[Symbol.dispose]();
    assert.equal(second.held, true);
    second[Symbol.dispose]();
    assert.equal(lock.locked, false);
});

test('locking a mutex that the thread holds is an error, and does not hang', async () => {
    const lock = shared.mutex('again');
    lock.lock();
    assert.throws(() => lock.lock(), withCode('would-deadlock'));
    assert.throws(() => lock.lock({ timeout: 60_000 }), withCode('would-deadlock'));
    assert.equal(lock.tryLock(), false);
    lock.unlock();
    const held = await lock.lockAsync();
    assert.throws(() => lock.lock(), withCode('would-deadlock'));
    assert.throws(() => lock.lock({ timeout: 60_000 }), withCode('would-deadlock'));
    held.unlock();
});

test('two tasks of one thread exclude each other', async () => {
    const lock = shared.mutex('tasks');
    const first = await lock.lockAsync();
    let granted = false;
    const second = lock.lockAsync().then((held) => {
        granted = true;
        return held;
    });
    await nextMacrotask();
    assert.equal(granted, false);
    first.unlock();
    (await second).unlock();
});

// The mutex must wake another waiter than the asynchronous one of this thread: this thread blocks until the worker,
// which waits behind it for the same mutex, has had its turn.
test('an asynchronous waiter holds up nobody while its thread blocks elsewhere', async () => {
    const [one, two] = [shared.mutex('one'), shared.mutex('two')];
    const holder = await attach(shared.handle);
    holder.mutex('one').lock();
    two.lock();
    const mine = one.lockAsync();
    const task = { name: 'behind', kind: /** @type {const} */ ('atomic'), n: 1, adds: 1 };
    const added = addersAll(adders.slice(0, 1), { ...task, mutex: { name: 'one', how: 'lock' } });
    const behind = shared.counter('behind');
    await asleepOn(one);
    holder.mutex('one').unlock();
    while (behind.value === 0);
    two.unlock();
    await added;
    (await mine).unlock();
});

/**
 * Gives a worker the time to go to sleep behind this thread. Since sleep cannot be observed, it waits a few turns.
 * If the worker does not sleep yet, the test is weaker, but not wrong.
 *
 * @param {import('tabacus/threads').SharedMutex} mutex
 */
async function asleepOn(mutex) {
    for (let turn = 0; turn < 50 && mutex.locked; turn++)
        await new Promise((resolve) => void setTimeout(resolve, 1));
}

test('without Atomics.waitAsync a mutex is awaited by polling', async (t) => {
    const { waitAsync } = Atomics;
    t.after(() => Object.assign(Atomics, { waitAsync }));
    Object.assign(Atomics, { waitAsync: undefined });
    const lock = shared.mutex('polled');
    const other = (await attach(shared.handle)).mutex('polled');
    other.lock();
    const waiting = lock.lockAsync();
    await assert.rejects(lock.lockAsync({ timeout: 3 }), { name: 'TimeoutError' });
    other.unlock();
    (await waiting).unlock();
    assert.equal(lock.locked, false);
});
