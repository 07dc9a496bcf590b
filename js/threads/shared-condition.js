import { SharedMutex } from './shared-mutex.js';
import { asyncLimits, blockingDeadline, sleepMax_ms } from './wait-limits.js';
import { orAborted, sleepAsync } from './waiting.js';

/** @typedef {import('../common/errors.js').TabacusError} TabacusError */
/** @typedef {import('./shared-mutex.js').Grant} Grant */

/**
 * A condition variable in shared memory: threads that hold a mutex release it and wait until another thread
 * notifies them. All threads that open the same name get the same one. `shared.condition(name)` returns it.
 *
 * Releasing the mutex and beginning to wait is one step. So a notification that is sent after the release is
 * not lost. A wait may also end without a notification, for example when a thread has died: check again
 * whether the condition that you wait for is true.
 *
 * @example
 * const jobs = shared.counter('jobs');
 * const filled = shared.condition('jobs filled');
 * jobs.add(); // here or in another thread, which then calls filled.notifyOne()
 * const held = await mutex.lockAsync();
 * while (jobs.value === 0) await filled.waitAsync(held);
 * jobs.add(-1);
 * held.unlock();
 */
export class SharedCondition {
    #core;
    #at;

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {number} at
     */
    constructor(core, name, at) {
        this.#core = core;
        this.#at = at;
        /** The name that was passed to shared.condition(). */
        this.name = name;
        Object.freeze(this);
    }

    /**
     * Releases the mutex, blocks until a notification, and acquires the mutex again, for which it may wait
     * beyond the timeout. Afterwards `mutex.ownerDied` is true if an owner has died meanwhile. If
     * `mutex.ownerDied` is true before the call, the mutex becomes `not-recoverable`, as by `unlock()`.
     *
     * @param {SharedMutex} mutex a mutex of the same memory that this thread holds
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait for a notification in milliseconds,
     *   from 0 to 2^31 − 1
     * @returns {boolean} whether it was notified; false if the time was over first
     * @throws {TabacusError} `would-block` on a page's main thread; `not-owner` if this thread does not hold
     *   the mutex; `not-recoverable`, then it does not hold the mutex; `invalid-argument`; `closed`
     */
    wait(mutex, options = {}) {
        const core = this.#core;
        core.assertOpen();
        const held = SharedMutex.of(mutex, core);
        const deadline_ms = blockingDeadline(core, options, 'waitAsync');
        const seen = core.ops.condition_announce(this.#at);
        const broken = held.ownerDied;
        const grant = held.suspend();
        const notified = broken || this.#sleep(seen, deadline_ms);
        held.resume(grant);
        return notified;
    }

    /**
     * Does what `wait` does, without blocking the thread. The mutex is held again when the promise settles,
     * whether it resolves or rejects, unless the attachment is closed or the mutex is `not-recoverable`.
     *
     * @param {SharedMutex | Grant} held a mutex of the same memory that this thread holds, or the grant that
     *   holds it
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait for a notification;
     *   `timeout` is in milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<boolean>} whether it was notified; false if the time was over first. Rejects with the
     *   signal's reason, or as `wait` throws
     */
    async waitAsync(held, options = {}) {
        const core = this.#core;
        core.assertOpen();
        const mutex = SharedMutex.of(held, core);
        const { deadline_ms, signal } = asyncLimits(core, options);
        const seen = core.ops.condition_announce(this.#at);
        const broken = mutex.ownerDied;
        const grant = mutex.suspend();
        try {
            return broken || (await this.#sleepAsync(seen, deadline_ms, signal));
        } finally {
            await mutex.resumeAsync(grant);
        }
    }

    /** Wakes the thread that waits for longest, if any thread waits. @throws {TabacusError} `closed` */
    notifyOne() {
        this.#core.assertOpen();
        this.#core.ops.condition_notify(this.#at, 0);
    }

    /** Wakes all threads that wait. @throws {TabacusError} `closed` */
    notifyAll() {
        this.#core.assertOpen();
        this.#core.ops.condition_notify(this.#at, 1);
    }

    /**
     * Blocks until the word differs from `seen`. Returns false if the time is over first.
     *
     * @param {number} seen
     * @param {number} deadline_ms
     */
    #sleep(seen, deadline_ms) {
        const { words } = this.#core;
        const index = this.#at >> 2;
        while (Atomics.load(words, index) === seen) {
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms <= 0) return false;
            Atomics.wait(words, index, seen, Math.min(rest_ms, sleepMax_ms));
        }
        return true;
    }

    /**
     * Does what #sleep() does, asynchronously. A promise that is abandoned stays in the queue of the
     * platform, as SharedMutex describes; while it does, each notification wakes all waiters.
     *
     * @param {number} seen
     * @param {number} deadline_ms
     * @param {AbortSignal | undefined} signal
     */
    async #sleepAsync(seen, deadline_ms, signal) {
        const { ops, words, ending } = this.#core;
        const index = this.#at >> 2;
        /** @type {Promise<import('./waiting.js').Woken> | undefined} */
        let sleep;
        ops.condition_async(this.#at, 1);
        try {
            while (Atomics.load(words, index) === seen) {
                const rest_ms = deadline_ms - performance.now();
                if (rest_ms <= 0) return false;
                sleep = sleepAsync(words, index, seen, rest_ms);
                await orAborted(orAborted(sleep, signal), ending);
                sleep = undefined;
            }
            return true;
        } finally {
            const leave = () => ops.condition_async(this.#at, -1);
            if (sleep) {
                void sleep.then(leave);
                Atomics.notify(words, index);
            } else leave();
        }
    }
}
