/** Reader-writer locks, semaphores and barriers between Workers, some of which are terminated while they hold. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TabacusError, TabacusRangeError, threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { mailbox } from '../programs/adders.js';

/** @type {import('tabacus/threads').ThreadsMemory} */
let shared;
/** @type {Awaited<ReturnType<typeof locker>>[]} */
let lockers;

before(async () => {
    shared = await threads();
    lockers = await Promise.all([locker(), locker(), locker()]);
});

after(() => Promise.all(lockers.map(({ worker }) => worker.terminate())));

/** Starts a worker that runs shared-locker.node.js. */
async function locker() {
    const worker = new Worker(new URL('../programs/shared-locker.node.js', import.meta.url));
    const { deliver, fail, next } = mailbox();
    worker.on('message', deliver);
    worker.on('error', fail);
    const answer = async () => {
        const { result, error } = /** @type {any} */ (await next());
        assert.equal(error, undefined);
        return result;
    };
    worker.postMessage({ handle: shared.handle });
    await answer();
    return {
        worker,
        /** @param {string} call @param {object} task */
        run(call, task) {
            worker.postMessage({ call, task });
            return answer();
        },
    };
}

/** Runs a call in all workers at once. @param {string} call @param {object} task */
const everywhere = (call, task) => Promise.all(lockers.map((one) => one.run(call, task)));

/** @param {string} code */
const withCode = (code) => (/** @type {unknown} */ error) => {
    assert.ok(error instanceof TabacusError);
    assert.equal(/** @type {any} */ (error).code, code);
    return true;
};

test('writers of a reader-writer lock exclude each other and readers', async () => {
    const lock = shared.rwLock('written');
    const done = everywhere('write', { name: 'written', adds: 1_000 });
    const counter = shared.counter('written counter', { kind: 'unsynchronised' });
    for (let i = 0; i < 100; i++) {
        const writing = await lock.lockExclusiveAsync();
        counter.add();
        writing.unlock();
        const reading = await lock.lockSharedAsync();
        const before = counter.value;
        await undefined;
        assert.equal(counter.value, before);
        reading.unlock();
    }
    assert.deepEqual(await done, [0, 0, 0]);
    assert.equal(counter.value, 3 * 1_000 + 100);
});

test('readers share a lock, and a reader that comes while a writer waits waits behind it', async () => {
    const lock = shared.rwLock('phases');
    const [one, two] = [await lock.lockSharedAsync(), await lock.lockSharedAsync()];
    assert.equal(lock.tryLockShared(), true);
    /** @type {string[]} */
    const order = [];
    const writer = lock.lockExclusiveAsync().then((held) => {
        order.push('writer');
        held.unlock();
    });
    assert.equal(lock.tryLockShared(), false);
    const reader = lock.lockSharedAsync().then((held) => {
        order.push('reader');
        held.unlock();
    });
    one.unlock();
    two.unlock();
    assert.deepEqual(order, []);
    lock.unlockShared();
    await Promise.all([writer, reader]);
    assert.deepEqual(order, ['writer', 'reader']);
});

test('a writer that gives up lets the readers behind it in', async () => {
    const lock = shared.rwLock('given up');
    const reading = await lock.lockSharedAsync();
    const abort = new AbortController();
    const writer = lock.lockExclusiveAsync({ signal: abort.signal });
    const reader = lock.lockSharedAsync();
    abort.abort();
    await assert.rejects(writer, { name: 'AbortError' });
    (await reader).unlock();
    await assert.rejects(lock.lockExclusiveAsync({ timeout: 3 }), { name: 'TimeoutError' });
    reading.unlock();
    assert.equal(lock.tryLockExclusive(), true);
    lock.unlockExclusive();
});

test('a worker that is terminated while it writes hands the lock on, with ownerDied', async () => {
    const lock = shared.rwLock('dead writer');
    const doomed = await locker();
    await doomed.run('lockExclusive', { name: 'dead writer' });
    const reader = lock.lockSharedAsync();
    const writer = lock.lockExclusiveAsync();
    await doomed.worker.terminate();
    const reading = await reader;
    assert.equal(reading.ownerDied, true);
    assert.throws(() => reading.markConsistent(), withCode('not-owner'));
    reading.unlock();
    const writing = await writer;
    assert.equal(writing.ownerDied, true);
    writing.markConsistent();
    assert.equal(writing.ownerDied, false);
    writing.unlock();
    assert.equal(lock.lockShared(), false);
    lock.unlockShared();
});

test('a lock that is unlocked without markConsistent() after a death is not recoverable', async () => {
    const lock = shared.rwLock('broken');
    const other = await attach(shared.handle);
    other.rwLock('broken').lockExclusive();
    const waiting = lock.lockExclusiveAsync();
    other.close();
    const held = await waiting;
    const next = lock.lockSharedAsync();
    held.unlock();
    await assert.rejects(next, withCode('not-recoverable'));
    assert.throws(() => lock.lockExclusive(), withCode('not-recoverable'));
    assert.throws(() => lock.tryLockShared(), withCode('not-recoverable'));
});

test('a worker that is terminated while it reads is removed', async () => {
    const lock = shared.rwLock('dead reader');
    const doomed = await locker();
    await doomed.run('lockShared', { name: 'dead reader' });
    const writer = lock.lockExclusiveAsync();
    await doomed.worker.terminate();
    const writing = await writer;
    assert.equal(writing.ownerDied, false);
    writing.unlock();
});

test('a reader-writer lock refuses what its holder must not do', async () => {
    const lock = shared.rwLock('rules');
    assert.throws(() => lock.unlockShared(), withCode('not-owner'));
    lock.lockShared();
    assert.throws(() => lock.unlockExclusive(), withCode('not-owner'));
    assert.throws(() => lock.markConsistent(), withCode('not-owner'));
    assert.throws(() => lock.lockExclusive(), withCode('would-deadlock'));
    assert.throws(() => lock.lockShared(), withCode('would-deadlock'));
    lock.unlockShared();
    const held = await lock.lockExclusiveAsync();
    assert.throws(() => lock.unlockExclusive(), withCode('not-owner'));
    held.unlock();
    assert.throws(() => held.unlock(), withCode('not-owner'));
    assert.equal(held.held, false);
    await assert.rejects(lock.lockSharedAsync({ signal: AbortSignal.abort() }), { name: 'AbortError' });
    await assert.rejects(
        lock.lockSharedAsync(/** @type {any} */ ({ timeout: 'soon' })),
        withCode('invalid-argument'),
    );
    assert.throws(() => shared.mutex('rules'), withCode('kind-mismatch'));
});

test('a semaphore admits as many threads as it has permits', async () => {
    const most = await everywhere('enter', { name: 'two', permits: 2, rounds: 2_000 });
    assert.ok(Math.max(...most) <= 2, String(most));
    assert.equal(shared.semaphore('two', 2).available, 2);
});

test('the permits of a terminated worker come back, and all of them once', async () => {
    const semaphore = shared.semaphore('returned', 3);
    const doomed = await locker();
    await doomed.run('acquire', { name: 'returned', permits: 3, n: 3 });
    assert.equal(semaphore.available, 0);
    assert.equal(semaphore.tryAcquire(), false);
    const waiting = semaphore.acquireAsync();
    await doomed.worker.terminate();
    await waiting;
    assert.equal(semaphore.available, 2);
    semaphore.release();
    assert.equal(semaphore.available, 3);
});

test('one thread may release what another one acquires', async () => {
    const semaphore = shared.semaphore('produced', 0);
    const consumed = everywhere('acquire', { name: 'produced', permits: 0, n: 100 });
    for (let i = 0; i < 150; i++) semaphore.release(2);
    await consumed;
    assert.equal(semaphore.available, 0);
});

test('a wait for a permit ends by a timeout or a signal, and takes no permit', async () => {
    const semaphore = shared.semaphore('no permits', 0);
    const abort = new AbortController();
    const aborted = semaphore.acquireAsync({ signal: abort.signal });
    await assert.rejects(semaphore.acquireAsync({ timeout: 3 }), { name: 'TimeoutError' });
    assert.throws(() => semaphore.acquire({ timeout: 3 }), { name: 'TimeoutError' });
    abort.abort();
    await assert.rejects(aborted, { name: 'AbortError' });
    semaphore.release();
    assert.equal(semaphore.available, 1);
    semaphore.acquire();
});

test('tasks of one thread that request permits at once get one after the other', async () => {
    const semaphore = shared.semaphore('tasks', 1);
    /** @type {number[]} */
    const inside = [];
    const tasks = [0, 1, 2].map(async (task) => {
        for (let round = 0; round < 20; round++) {
            await semaphore.acquireAsync();
            inside.push(task);
            await undefined;
            assert.equal(inside.pop(), task);
            semaphore.release();
        }
    });
    await Promise.all(tasks);
    assert.equal(semaphore.available, 1);
});

test('a semaphore refuses numbers that it cannot have', () => {
    const semaphore = shared.semaphore('numbers', 1);
    for (const n of [0, 1.5, 2 ** 23, NaN])
        assert.throws(() => semaphore.release(n), withCode('invalid-argument'));
    assert.throws(
        () => semaphore.release(2 ** 23 - 1),
        (error) => error instanceof TabacusRangeError,
    );
    assert.throws(() => shared.semaphore('numbers', 2), withCode('kind-mismatch'));
    assert.throws(() => shared.semaphore('numbers', -1), withCode('invalid-argument'));
    assert.throws(() => shared.barrier('numbers', 1), withCode('kind-mismatch'));
    assert.throws(() => shared.barrier('none', 0), withCode('invalid-argument'));
});

test('nobody passes a barrier before all parties have arrived', async () => {
    assert.deepEqual(await everywhere('meet', { name: 'met', parties: 3, rounds: 300 }), [0, 0, 0]);
});

test('a terminated party is counted out of a barrier', async () => {
    const barrier = shared.barrier('smaller', 3);
    const doomed = await locker();
    await doomed.run('join', { name: 'smaller', parties: 3 });
    const waiting = [barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()];
    await doomed.worker.terminate();
    await Promise.all(waiting);
    await Promise.all([barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()]);
});

test('an arrival is taken back when its timeout is over', async () => {
    const barrier = shared.barrier('late', 2);
    await assert.rejects(barrier.arriveAndWaitAsync({ timeout: 3 }), { name: 'TimeoutError' });
    assert.throws(() => barrier.arriveAndWait({ timeout: 3 }), { name: 'TimeoutError' });
    let passed = false;
    const first = barrier.arriveAndWaitAsync().then(() => (passed = true));
    await new Promise((resolve) => void setTimeout(resolve, 1));
    assert.equal(passed, false);
    await Promise.all([first, lockers[0]?.run('arrive', { name: 'late', parties: 2 })]);
    barrier.arriveAndDrop();
    await barrier.arriveAndWaitAsync();
});

test('an arrival that is taken back does not take back those of other tasks', async () => {
    const barrier = shared.barrier('tasks meet', 2);
    const abort = new AbortController();
    const first = barrier.arriveAndWaitAsync({ signal: abort.signal });
    /** @type {Promise<void>[]} */
    const others = [];
    abort.signal.addEventListener('abort', () => {
        void (async () => {
            // The first task withdraws in one of the next microtasks.
            for (let i = 0; i < 10; i++) await undefined;
            others.push(barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync());
        })();
    });
    abort.abort();
    await assert.rejects(first, { name: 'AbortError' });
    for (let i = 0; i < 10; i++) await undefined;
    assert.equal(others.length, 2);
    await Promise.all(others);
});

test('closing an attachment ends the waits and the holds of its thread', async () => {
    const other = await attach(shared.handle);
    const semaphore = shared.semaphore('closed', 1);
    semaphore.acquire();
    const waiting = other.semaphore('closed', 1).acquireAsync();
    const locked = await other.rwLock('closed too').lockSharedAsync();
    other.close();
    await assert.rejects(waiting, withCode('closed'));
    assert.throws(() => locked.unlock(), withCode('closed'));
    semaphore.release();
    assert.equal(semaphore.available, 1);
    assert.equal(shared.rwLock('closed too').tryLockExclusive(), true);
    shared.rwLock('closed too').unlockExclusive();
});

test('a grant is given back if its thread has closed its attachment meanwhile', async () => {
    const other = await attach(shared.handle);
    const calls = [
        other.semaphore('granted', 1).acquireAsync(),
        other.rwLock('granted too').lockExclusiveAsync(),
    ];
    other.close();
    assert.equal(shared.semaphore('granted', 1).tryAcquire(), true);
    for (const call of calls) await assert.rejects(call, withCode('closed'));
    assert.equal(shared.semaphore('granted', 1).available, 0);
});
