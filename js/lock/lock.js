import { checkFunction } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';

/** @typedef {import('../common/errors.js').TabacusError} TabacusError */

/**
 * A lock over all tabs of the origin that open the same namespace. `tab.lock(name)` returns it. The
 * WebAssembly of locks is loaded when a lock is first used. docs/locks.md states the guarantees.
 *
 * @example
 * await tab.lock('cart').run(async (held) => {
 *     await held.commit('carts', (tx) => tx.put('carts', 'mine', ['pen']));
 * });
 */
export class Lock extends Successor {
    #locks;

    /**
     * @param {{ name: string }} object
     * @param {import('./tab-locks.js').TabLocks} locks
     * @internal
     */
    constructor(object, locks) {
        super(object);
        this.name = object.name;
        this.#locks = locks;
    }

    /**
     * Acquires the lock, runs `use`, and releases the lock.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held) => T | Promise<T>} use
     * @param {import('./lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns. Rejects with what `use` throws, and at once with `lock-lost`
     *   if the lock is lost while `use` runs. If the lock is not granted, `use` does not run, and the call
     *   rejects: with the reason of `signal` (an `AbortError` by default), with a `TimeoutError`, a
     *   DeadlockError, or a `NotSupportedError` for options that exclude each other; or with a TabacusError,
     *   such as `invalid-argument`, `closed`, `unavailable`, or `weaker-guarantee` where the browser has no
     *   IndexedDB
     */
    /**
     * With `ifAvailable`, the call never waits: if the lock is not free, `use` gets null.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held | null) => T | Promise<T>} use
     * @param {import('./lock-options.js').LockOptions} options
     * @returns {Promise<T>} what `use` returns
     */
    /**
     * @param {(held: any) => any} use
     * @param {import('./lock-options.js').LockOptions} [options]
     * @returns {Promise<any>}
     */
    async run(use, options) {
        checkFunction('use', use);
        return this.#locks.run([this.name], use, options, false);
    }

    /**
     * Acquires the lock. `await using held = await lock.acquire()` releases it at the end of the block;
     * otherwise call `held.release()`.
     *
     * @overload
     * @param {import('./lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<import('./held.js').Held>} rejects as run() does if the lock is not granted
     */
    /**
     * With `ifAvailable`, the call never waits.
     *
     * @overload
     * @param {import('./lock-options.js').LockOptions} options
     * @returns {Promise<import('./held.js').Held | null>} null if the lock is not free
     */
    /**
     * @param {import('./lock-options.js').LockOptions} [options]
     * @returns {Promise<any>}
     */
    async acquire(options) {
        return this.#locks.acquireOne(this.name, options);
    }

    /**
     * Resolves with whether any tab holds the lock, exclusively or shared.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait, as those of waitForUnlock()
     */
    async isLocked(options) {
        return (await this.query(options)).some(({ state }) => state === 'held');
    }

    /**
     * Resolves when no tab holds the lock. Another tab may have acquired it by the time that the caller
     * continues.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait: with the signal's reason,
     *   or with a `TimeoutError` after `timeout` milliseconds
     */
    async waitForUnlock(options) {
        return this.#locks.waitForUnlock(this.name, options);
    }

    /**
     * Resolves with the requests that hold the lock and then those that wait for it, in the order of the
     * queue.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait, as those of waitForUnlock()
     */
    async query(options) {
        return this.#locks.query(this.name, options);
    }

    /**
     * Calls `listener` with the result of query(): as soon as that is known, and whenever a tab has acquired,
     * released or lost the lock.
     *
     * @param {(requests: import('./lock-observer.js').LockRequestInfo[]) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {TabacusError} `invalid-argument`, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        return this.#locks.subscribe(this.name, listener);
    }
}
