/// <reference lib="esnext.disposable" preserve="true" />
import { invalid, show, TabacusError } from '../common/errors.js';
import { locks, mutexWord, unlocks } from './arena-layout.js';
import { asyncLimits, blockingDeadline, sleepMax_ms } from './wait-limits.js';
import { orAborted, sleepAsync } from './waiting.js';

/**
 * A mutex in shared memory. All threads that open the same name get the same mutex. Blocking and asynchronous
 * waiters wait in one queue. `shared.mutex(name)` returns it.
 *
 * After `lock` or `tryLock`, the thread holds the mutex; after `lockAsync`, one grant holds it. Two grants of
 * one thread exclude each other as two threads do. `unlock()` releases the mutex in both cases.
 *
 * The mutex is not fair: a running thread may overtake a sleeping one.
 *
 * The mutex is robust. If a thread dies while it holds the mutex (it is terminated, or closes its
 * attachment), then exactly one other thread acquires the mutex with `ownerDied` true. It repairs what the
 * mutex guards, and calls `markConsistent()` before it unlocks. If it unlocks without that, the mutex is
 * `not-recoverable` for all threads. `attach()` describes which deaths are noticed; where one is not, the
 * mutex stays locked. If a thread dies while it waits, and its death is not noticed, a wake-up may be lost
 * with it, so that the next waiter sleeps for up to 100 ms longer.
 *
 * @example
 * const held = await mutex.lockAsync({ timeout: 1000 });
 * try {
 *     if (held.ownerDied) {
 *         repair();
 *         held.markConsistent();
 *     }
 *     work();
 * } finally {
 *     held.unlock();
 * }
 */
export class SharedMutex {
    #core;
    #at;

    /**
     * The grant that holds the mutex, if a grant of this thread does. The word of the mutex only names the
     * thread; this field names the grant. That is sufficient, because a thread has one object for each name.
     * @type {Grant | undefined}
     */
    #grant;

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {number} at
     */
    constructor(core, name, at) {
        this.#core = core;
        this.#at = at;
        /** The name that was passed to shared.mutex(). */
        this.name = name;
    }

    /**
     * Blocks until this thread holds the mutex.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 − 1
     * @returns {void}
     * @throws {TabacusError} `would-block` on a page's main thread, even if the mutex is free, because a page
     *   must not hang; `would-deadlock` if this thread holds the mutex already; `not-recoverable`;
     *   `invalid-argument`; `closed`
     * @throws {DOMException} `TimeoutError`
     */
    lock(options) {
        const core = this.#core;
        const deadline_ms = blockingDeadline(core, options, 'lockAsync');
        if (deadline_ms < Infinity) this.#lockUntil(deadline_ms);
        else this.#check(core.ops.mutex_lock(this.#at, core.id));
    }

    /**
     * Acquires the mutex if it is free. It never blocks.
     *
     * @returns {boolean} whether it has acquired the mutex
     * @throws {TabacusError} `not-recoverable`; `closed`
     */
    tryLock() {
        this.#core.assertOpen();
        const result = this.#core.ops.mutex_try_lock(this.#at, this.#core.id);
        return result !== locks.busy && this.#check(result);
    }

    /**
     * Acquires the mutex without blocking the thread. If the wait ends without a grant, it does not delay
     * other waiters.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait; `timeout` is in
     *   milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<Grant>} rejects with the signal's reason, with a `TimeoutError`, or with
     *   `not-recoverable`, `invalid-argument` or `closed`
     */
    async lockAsync(options = {}) {
        const { deadline_ms, signal } = asyncLimits(this.#core, options);
        const grant = new Grant(this);
        await this.#acquire(deadline_ms, signal, grant);
        return grant;
    }

    /**
     * Whether this thread holds the mutex, the owner before it has died, and `markConsistent()` has not been
     * called. Then what the mutex guards is in the state in which that owner left it.
     *
     * @throws {TabacusError} `closed`
     */
    get ownerDied() {
        this.#core.assertOpen();
        const word = Atomics.load(this.#core.words, this.#at >> 2);
        return word >>> mutexWord.ownerShift === this.#core.id && (word & mutexWord.died) !== 0;
    }

    /**
     * Declares that what the mutex guards is consistent again. Does nothing if `ownerDied` is false.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold the mutex; `closed`
     */
    markConsistent() {
        this.#core.assertOpen();
        if (this.#core.ops.mutex_mark_consistent(this.#at, this.#core.id) !== unlocks.released)
            throw this.#notOwner();
    }

    /**
     * Releases the mutex. If `ownerDied` is true, the mutex becomes `not-recoverable`.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold it; `closed`
     */
    unlock() {
        this.#core.assertOpen();
        if (this.#grant) this.release(this.#grant);
        else this.#unlock();
    }

    /**
     * Whether the mutex is not free: a thread holds it, its owner has died, or it is not recoverable. That may have
     * changed by the time the caller uses the answer.
     */
    get locked() {
        this.#core.assertOpen();
        return Atomics.load(this.#core.words, this.#at >> 2) !== 0;
    }

    /** Whether a grant holds the mutex. @param {Grant} grant */
    heldBy(grant) {
        return this.#grant === grant;
    }

    /**
     * Releases the mutex.
     *
     * @param {Grant} grant
     * @throws {TabacusError} `not-owner` if the grant does not hold it
     */
    release(grant) {
        this.#core.assertOpen();
        if (this.#grant !== grant) throw this.#notOwner();
        this.#unlock();
        this.#grant = undefined;
    }

    /**
     * Declares that what the mutex guards is consistent again.
     *
     * @param {Grant} grant
     * @throws {TabacusError} `not-owner` if the grant does not hold the mutex
     */
    markConsistentBy(grant) {
        if (this.#grant !== grant) throw this.#notOwner();
        this.markConsistent();
    }

    /**
     * Releases the mutex for a wait. Returns the grant that holds it, if one does.
     *
     * @throws {TabacusError} `not-owner`
     */
    suspend() {
        const grant = this.#grant;
        this.#unlock();
        this.#grant = undefined;
        return grant;
    }

    /** Acquires the mutex after a wait. @param {Grant | undefined} grant what suspend() has returned */
    resume(grant) {
        this.lock();
        this.#grant = grant;
    }

    /** Does what resume() does, asynchronously. @param {Grant | undefined} grant */
    resumeAsync(grant) {
        return this.#acquire(Infinity, undefined, grant);
    }

    /**
     * Returns the mutex of an argument.
     *
     * @param {unknown} held a mutex, or a grant that holds it
     * @param {import('./thread-core.js').ThreadCore} core
     * @returns {SharedMutex}
     * @throws {TabacusError} `invalid-argument`; `not-owner` if the grant is released
     */
    static of(held, core) {
        const mutex = held instanceof Grant ? Grant.mutexOf(held) : held;
        const ours = typeof mutex === 'object' && mutex !== null && #core in mutex;
        if (!ours || mutex.#core !== core) throw invalid('mutex', held, 'a mutex of the same shared memory');
        if (held instanceof Grant && !held.held) throw mutex.#notOwner();
        return mutex;
    }

    #unlock() {
        if (this.#core.ops.mutex_unlock(this.#at, this.#core.id) !== unlocks.released) throw this.#notOwner();
    }

    /**
     * Acquires the mutex within a time. It repeats the step of mutex.hpp and a short blocking sleep, and it
     * gives up only after a step. It is in JavaScript, because attach.wasm has no clock.
     *
     * @param {number} deadline_ms in the time of performance.now()
     */
    #lockUntil(deadline_ms) {
        const { ops, words, id } = this.#core;
        for (let slept = 0; ;) {
            const word = ops.mutex_step(this.#at, id, slept);
            if (word === 0) return;
            if (word === mutexWord.notRecoverable) throw this.#notRecoverable();
            if (word >>> mutexWord.ownerShift === id) throw this.#deadlock();
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms <= 0) throw timedOut(this.name);
            if (Atomics.wait(words, this.#at >> 2, word, Math.min(rest_ms, sleepMax_ms)) !== 'not-equal')
                slept = 1;
        }
    }

    /**
     * Acquires the mutex asynchronously, by steps of mutex.hpp and asynchronous sleeps.
     *
     * An `Atomics.waitAsync` cannot be cancelled. So if the wait ends early, its promise is abandoned: the
     * waiter stays in the queue of the platform, and keeps the memory, until it is notified together with all
     * others. `mutex_leave_async` is called only when that promise has settled. Until then each unlock wakes
     * all waiters, so that no wake-up is lost to an abandoned one, and this waiter need not record that
     * others sleep.
     *
     * @param {number} deadline_ms
     * @param {AbortSignal | undefined} signal
     * @param {Grant | undefined} grant the grant that holds the mutex as soon as it is acquired; undefined if
     *   the thread holds it
     */
    async #acquire(deadline_ms, signal, grant) {
        const { ops, words, id } = this.#core;
        const index = this.#at >> 2;
        /** @type {Promise<import('./waiting.js').Woken> | undefined} */
        let sleep;
        ops.mutex_enter_async(this.#at);
        try {
            for (;;) {
                this.#core.assertOpen();
                const word = ops.mutex_step(this.#at, id, 0);
                if (word === 0) {
                    this.#grant = grant;
                    return;
                }
                if (word === mutexWord.notRecoverable) throw this.#notRecoverable();
                const rest_ms = deadline_ms - performance.now();
                if (rest_ms <= 0) throw timedOut(this.name);
                sleep = sleepAsync(words, index, word, rest_ms);
                await orAborted(orAborted(sleep, signal), this.#core.ending);
                sleep = undefined;
            }
        } finally {
            const leave = () => ops.mutex_leave_async(this.#at);
            if (sleep) {
                void sleep.then(leave);
                Atomics.notify(words, index);
            } else leave();
        }
    }

    /**
     * Returns true if a lock function has acquired the mutex.
     *
     * @param {number} result a LockResult other than `busy`
     * @throws {TabacusError} `would-deadlock`, `not-recoverable`
     */
    #check(result) {
        if (result === locks.wouldDeadlock) throw this.#deadlock();
        if (result === locks.notRecoverable) throw this.#notRecoverable();
        return true;
    }

    #notRecoverable() {
        return new TabacusError(
            'not-recoverable',
            `an owner of ${show(this.name)} died, and the next one unlocked it without markConsistent()`,
        );
    }

    #deadlock() {
        return new TabacusError(
            'would-deadlock',
            `this thread holds ${show(this.name)} already, and would wait for itself`,
        );
    }

    #notOwner() {
        return new TabacusError(
            'not-owner',
            `${show(this.name)} is not held here; only its owner can unlock it`,
        );
    }
}

/** Makes the error of a wait that took too long. @param {string} name */
const timedOut = (name) => new DOMException(`${show(name)} was not free in time`, 'TimeoutError');

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

/**
 * One asynchronous acquisition of a mutex. It is released by `unlock()`, or at the end of the block of a
 * `using`.
 */
export class Grant {
    #mutex;

    /** @param {SharedMutex} mutex */
    constructor(mutex) {
        this.#mutex = mutex;
        Object.freeze(this);
    }

    /** Returns the mutex of a grant. @param {Grant} grant */
    static mutexOf(grant) {
        return grant.#mutex;
    }

    /** Whether this grant holds the mutex. */
    get held() {
        return this.#mutex.heldBy(this);
    }

    /**
     * Whether this grant holds the mutex, the owner before it has died, and `markConsistent()` has not been
     * called. Then what the mutex guards is in the state in which that owner left it.
     */
    get ownerDied() {
        return this.held && this.#mutex.ownerDied;
    }

    /**
     * Declares that what the mutex guards is consistent again. Does nothing if `ownerDied` is false.
     *
     * @throws {TabacusError} `not-owner` if this grant is already released; `closed`
     */
    markConsistent() {
        this.#mutex.markConsistentBy(this);
    }

    /**
     * Releases the mutex. If `ownerDied` is true, the mutex becomes `not-recoverable`.
     *
     * @throws {TabacusError} `not-owner` if this grant is already released; `closed`
     */
    unlock() {
        this.#mutex.release(this);
    }

    [dispose]() {
        if (this.held) this.unlock();
    }
}
