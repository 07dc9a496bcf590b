/// <reference lib="esnext.disposable" preserve="true" />
import { show, TabacusError } from '../common/errors.js';
import { checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { locks, unlocks } from './arena-layout.js';
import { orAborted, sleepAsync } from './waiting.js';

/** The longest single sleep: PlatformCells::sleep_max_ns. */
const sleepMax_ms = 100;

/**
 * A mutex in shared memory, the same one in every thread that opens its name. Blocking and
 * asynchronous waiters wait in one queue.
 *
 * Its holder is a thread, after `lock` or `tryLock`; or one grant, after `lockAsync`. Two grants of one
 * thread exclude each other like two threads do. `unlock()` releases what this thread holds, be it by
 * `lock` or by a grant. It is not fair: a running thread may overtake a sleeping one. A thread that is
 * terminated while it holds the mutex leaves it locked; one that is terminated while it waits may take a wake-up
 * along, so that the next waiter sleeps for up to a tenth of a second longer.
 *
 * @example
 * const held = await mutex.lockAsync({ timeout: 1000 });
 * try { … } finally { held.unlock(); }
 */
export class SharedMutex {
    #core;
    #at;

    /**
     * The grant by which this thread holds the mutex, if it does by one. The mutex's word names the thread;
     * this field names the grant, and so the task, that holds it: a thread has one object for one name.
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
        /** The name it was opened by. */
        this.name = name;
    }

    /**
     * Blocks until the mutex is this thread's. On a page's main thread a `would-block` error, always: a
     * page must not hang. A `would-deadlock` error if this thread holds it already.
     *
     * @param {{ timeout?: number }} [options] `timeout` in milliseconds; then a `TimeoutError`
     * @returns {void}
     */
    lock(options) {
        const core = this.#core;
        core.assertOpen();
        const timeout_ms =
            options === undefined ? options : checkTimeout(checkOptions(options, ['timeout']).timeout);
        if (!core.maySleep) {
            throw new TabacusError('would-block', 'a main thread must not block: await lockAsync() instead');
        }
        if (timeout_ms !== undefined) this.#lockFor(timeout_ms);
        else if (core.ops.mutex_lock(this.#at, core.id) !== locks.acquired) throw this.#deadlock();
    }

    /**
     * Takes the mutex if it is free.
     *
     * @returns {boolean} whether it has taken it
     */
    tryLock() {
        this.#core.assertOpen();
        return this.#core.ops.mutex_try_lock(this.#at, this.#core.id) === locks.acquired;
    }

    /**
     * Waits without blocking. Resolves to a grant; rejects with the signal's reason when aborted, with a
     * `TimeoutError` when the time is over, and then has left the queue without delaying others.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] `timeout` in milliseconds
     * @returns {Promise<Grant>}
     */
    async lockAsync(options = {}) {
        this.#core.assertOpen();
        const given = checkOptions(options, ['signal', 'timeout']);
        const signal = checkSignal(given.signal);
        const deadline_ms = performance.now() + (checkTimeout(given.timeout) ?? Infinity);
        signal?.throwIfAborted();
        return this.#acquire(deadline_ms, signal);
    }

    /** Releases what this thread holds; a `not-owner` error, and no change, if that is nothing. */
    unlock() {
        this.#core.assertOpen();
        if (this.#grant) this.release(this.#grant);
        else this.#unlock();
    }

    /** Whether anybody holds it. It may have changed by the time you use the answer. */
    get locked() {
        this.#core.assertOpen();
        return Atomics.load(this.#core.words, this.#at >> 2) !== 0;
    }

    /** Whether `grant` holds it. @param {Grant} grant */
    heldBy(grant) {
        return this.#grant === grant;
    }

    /** @param {Grant} grant */
    release(grant) {
        this.#core.assertOpen();
        if (this.#grant !== grant) throw this.#notOwner();
        this.#unlock();
        this.#grant = undefined;
    }

    #unlock() {
        if (this.#core.ops.mutex_unlock(this.#at, this.#core.id) !== unlocks.released) throw this.#notOwner();
    }

    /**
     * `step` and sleep a slice, blocking, and give up only after a step: see mutex.hpp. The clock is here,
     * since attach.wasm has none.
     *
     * @param {number} timeout_ms
     */
    #lockFor(timeout_ms) {
        const { ops, words, id } = this.#core;
        const deadline_ms = performance.now() + timeout_ms;
        for (let slept = 0; ;) {
            const word = ops.mutex_step(this.#at, id, slept);
            if (word === 0) return;
            if (word >>> 1 === id) throw this.#deadlock();
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms <= 0) throw timedOut(this.name);
            if (Atomics.wait(words, this.#at >> 2, word, Math.min(rest_ms, sleepMax_ms)) !== 'not-equal')
                slept = 1;
        }
    }

    /**
     * `step` and sleep, asynchronously. `mutex_leave_async` comes only when the last promise has
     * settled, since an abandoned waiter, which would keep the memory, stays in the queue until it is
     * woken with all others. Until then an unlock wakes everybody, so that this waiter takes the mutex
     * without having to think of others asleep.
     *
     * @param {number} deadline_ms
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<Grant>} known to `unlock` from the moment on in which the mutex was taken
     */
    async #acquire(deadline_ms, signal) {
        const { ops, words, id } = this.#core;
        const index = this.#at >> 2;
        /** @type {Promise<import('./waiting.js').Woken> | undefined} */
        let sleep;
        ops.mutex_enter_async(this.#at);
        try {
            for (;;) {
                this.#core.assertOpen();
                const word = ops.mutex_step(this.#at, id, 0);
                if (word === 0) return (this.#grant = new Grant(this));
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

/** @param {string} name */
const timedOut = (name) => new DOMException(`${show(name)} was not free in time`, 'TimeoutError');

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

/** One asynchronous acquisition of a mutex. `unlock()` once; leaving a `using` scope does it, too. */
export class Grant {
    #mutex;

    /** @param {SharedMutex} mutex */
    constructor(mutex) {
        this.#mutex = mutex;
        Object.freeze(this);
    }

    /** Whether it holds the mutex still. */
    get held() {
        return this.#mutex.heldBy(this);
    }

    /** A `not-owner` error if it was released before. */
    unlock() {
        this.#mutex.release(this);
    }

    [dispose]() {
        if (this.held) this.unlock();
    }
}
