/** Robust mutexes, condition variables and functions that run once, in one thread with several attachments. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError, threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';

/** @param {string} code */
const withCode = (code) => (/** @type {unknown} */ error) => {
    assert.ok(error instanceof TabacusError);
    assert.equal(/** @type {any} */ (error).code, code);
    return true;
};

/** Makes a memory, and a second attachment to it. close() of an attachment is a death to its objects. */
async function pair() {
    const shared = await threads();
    return { shared, other: await attach(shared.handle) };
}

test('a mutex whose owner has died goes to one successor, with ownerDied', async () => {
    const { shared, other } = await pair();
    const mutex = shared.mutex('m');
    other.mutex('m').lock();
    const waiting = mutex.lockAsync();
    other.close();
    const held = await waiting;
    assert.equal(held.ownerDied, true);
    assert.equal(mutex.ownerDied, true);
    held.markConsistent();
    assert.equal(held.ownerDied, false);
    held.unlock();
    assert.throws(() => held.markConsistent(), withCode('not-owner'));
    assert.throws(() => mutex.markConsistent(), withCode('not-owner'));
    mutex.lock();
    assert.equal(mutex.ownerDied, false);
    mutex.markConsistent();
    mutex.unlock();
});

test('every way to lock reports the death, and does so again if the successor dies, too', async () => {
    const shared = await threads();
    const mutex = shared.mutex('m');
    const ways = [() => mutex.lock(), () => mutex.lock({ timeout: 1_000 }), () => mutex.tryLock()];
    for (const lock of ways) {
        for (const heirs of [1, 2]) {
            for (let i = 0; i < heirs; i++) {
                const other = await attach(shared.handle);
                other.mutex('m').lock();
                assert.equal(other.mutex('m').ownerDied, i > 0);
                other.close();
            }
            assert.equal(mutex.locked, true);
            lock();
            assert.equal(mutex.ownerDied, true);
            mutex.markConsistent();
            mutex.unlock();
        }
    }
});

test('a mutex that is unlocked without markConsistent() is not recoverable, also for those who wait', async () => {
    const { shared, other } = await pair();
    const third = await attach(shared.handle);
    const [mutex, lost] = [shared.mutex('m'), third.mutex('m')];
    other.mutex('m').lock();
    const waiting = lost.lockAsync();
    const second = lost.lockAsync();
    other.close();
    (await waiting).unlock();
    await assert.rejects(second, withCode('not-recoverable'));
    assert.throws(() => mutex.lock(), withCode('not-recoverable'));
    assert.throws(() => mutex.lock({ timeout: 1_000 }), withCode('not-recoverable'));
    assert.throws(() => mutex.tryLock(), withCode('not-recoverable'));
    await assert.rejects(mutex.lockAsync(), withCode('not-recoverable'));
    assert.throws(() => mutex.unlock(), withCode('not-owner'));
});

test('the slots of 254 threads are given back, more often than there are slots', async () => {
    const shared = await threads();
    for (let i = 0; i < 300; i++) (await attach(shared.handle)).close();
    const all = await Promise.all(Array.from({ length: 254 }, () => attach(shared.handle)));
    await assert.rejects(attach(shared.handle), withCode('out-of-memory'));
    all[7]?.close();
    await attach(shared.handle);
});

test('a notification reaches one waiter or all, and a wait releases the mutex and acquires it again', async () => {
    const { shared, other } = await pair();
    const [mutex, condition] = [shared.mutex('m'), shared.condition('c')];
    /** @type {number[]} */
    const woken = [];
    const wait = async (/** @type {number} */ number) => {
        const held = await mutex.lockAsync();
        assert.equal(await condition.waitAsync(held), true);
        assert.equal(held.held, true);
        woken.push(number);
        held.unlock();
    };
    const first = wait(1);
    const rest = [wait(2), wait(3)];
    const held = await mutex.lockAsync();
    assert.deepEqual(woken, []);
    other.condition('c').notifyAll();
    held.unlock();
    await Promise.all([first, ...rest]);
    assert.deepEqual(woken.sort(), [1, 2, 3]);
    const last = wait(4);
    (await mutex.lockAsync()).unlock();
    other.condition('c').notifyOne();
    await last;
    condition.notifyOne();
    condition.notifyAll();
});

test('a wait that ends without a notification holds the mutex again', async () => {
    const { shared } = await pair();
    const [mutex, condition] = [shared.mutex('m'), shared.condition('c')];
    mutex.lock();
    assert.equal(condition.wait(mutex, { timeout: 1 }), false);
    assert.equal(await condition.waitAsync(mutex, { timeout: 1 }), false);
    mutex.unlock();
    const held = await mutex.lockAsync();
    const abort = new AbortController();
    const waiting = condition.waitAsync(held, { signal: abort.signal });
    assert.equal(mutex.locked, false);
    abort.abort('enough');
    await assert.rejects(waiting, (reason) => reason === 'enough');
    assert.equal(held.held, true);
    held.unlock();
});

test('a wait needs a mutex of the same memory that the thread holds', async () => {
    const { shared, other } = await pair();
    const [mutex, condition] = [shared.mutex('m'), shared.condition('c')];
    assert.throws(() => condition.wait(mutex), withCode('not-owner'));
    await assert.rejects(condition.waitAsync(mutex), withCode('not-owner'));
    const held = await mutex.lockAsync();
    held.unlock();
    await assert.rejects(condition.waitAsync(held), withCode('not-owner'));
    for (const wrong of [other.mutex('m'), {}, null, 1])
        assert.throws(() => condition.wait(/** @type {any} */ (wrong)), withCode('invalid-argument'));
});

test('a wait with a mutex that is inconsistent makes it not recoverable, and does not sleep', async () => {
    const { shared, other } = await pair();
    const [mutex, condition] = [shared.mutex('m'), shared.condition('c')];
    other.mutex('m').lock();
    other.close();
    mutex.lock();
    assert.throws(() => condition.wait(mutex), withCode('not-recoverable'));
});

test('a death ends the waits for a condition', async () => {
    const { shared, other } = await pair();
    const [mutex, condition] = [shared.mutex('m'), shared.condition('c')];
    const held = await mutex.lockAsync();
    const waiting = condition.waitAsync(held);
    other.close();
    assert.equal(await waiting, true);
    assert.equal(held.ownerDied, false);
    held.unlock();
});

test('a function runs once over all threads', async () => {
    const { shared, other } = await pair();
    let runs = 0;
    const run = () => void runs++;
    assert.equal(shared.callOnce('once', run), true);
    assert.equal(other.callOnce('once', run), false);
    assert.equal(await shared.callOnceAsync('once', run), false);
    assert.equal(runs, 1);
    const both = await Promise.all([
        shared.callOnceAsync('async', async () => void (await undefined, runs++)),
        other.callOnceAsync('async', run),
    ]);
    assert.deepEqual(both, [true, false]);
    assert.equal(runs, 2);
});

test('a call that waits for a function in another thread ends by its time or its signal', async () => {
    const { shared, other } = await pair();
    /** @type {(value?: undefined) => void} */
    let end = () => {};
    const running = other.callOnceAsync('once', () => new Promise((resolve) => (end = resolve)));
    const run = () => assert.fail('another thread runs it');
    assert.throws(() => shared.callOnce('once', run, { timeout: 0 }), { name: 'TimeoutError' });
    assert.throws(
        () => shared.callOnce('once', run, /** @type {any} */ ({ timeout: -1 })),
        withCode('invalid-argument'),
    );
    await assert.rejects(shared.callOnceAsync('once', run, { timeout: 0 }), { name: 'TimeoutError' });
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(shared.callOnceAsync('once', run, { signal }), { message: 'enough' });
    end();
    assert.equal(await running, true);
    assert.equal(shared.callOnce('once', run, { timeout: 0 }), false);
});

test('a function that throws is run by the next caller', async () => {
    const { shared, other } = await pair();
    const fail = () => {
        throw new Error('not now');
    };
    assert.throws(() => shared.callOnce('once', fail), { message: 'not now' });
    await assert.rejects(other.callOnceAsync('once', fail), { message: 'not now' });
    assert.equal(
        other.callOnce('once', () => {}),
        true,
    );
});

test('a function is run by the next caller if the thread that runs it dies', async () => {
    const { shared, other } = await pair();
    const dying = other.callOnceAsync('once', () => new Promise(() => {}));
    dying.catch(() => {});
    const next = shared.callOnceAsync('once', () => {});
    other.close();
    assert.equal(await next, true);
    assert.equal(
        shared.callOnce('once', () => {}),
        false,
    );
});

test('a function that calls itself is an error', async () => {
    const { shared } = await pair();
    const again = () => void shared.callOnce('once', () => {});
    assert.throws(() => shared.callOnce('once', again), withCode('would-deadlock'));
    assert.throws(() => shared.callOnce('once', /** @type {any} */ (1)), withCode('invalid-argument'));
});

test('a name belongs to one kind of object', async () => {
    const { shared } = await pair();
    shared.condition('c');
    shared.callOnce('o', () => {});
    assert.throws(() => shared.mutex('c'), withCode('kind-mismatch'));
    assert.throws(() => shared.counter('c'), withCode('kind-mismatch'));
    assert.throws(() => shared.condition('o'), withCode('kind-mismatch'));
    assert.throws(() => shared.callOnce('c', () => {}), withCode('kind-mismatch'));
    assert.equal(shared.condition('c'), shared.condition('c'));
});
