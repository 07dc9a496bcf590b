import { checkFunction } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';

/** @typedef {import('../common/errors.js').TabacusError} TabacusError */

/**
 * A lock over all tabs of the origin that open the same namespace. Made by `tab.lock(name)`; its
 * WebAssembly is loaded when it is first used.
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
     * Runs `use` under the lock, and releases it.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held) => T | Promise<T>} use
     * @param {import('./lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns. Rejects at once with `lock-lost` when the lock is lost
     *   meanwhile; with AbortError, TimeoutError or a DeadlockError when it was not granted
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held | null) => T | Promise<T>} use given null when it was asked for
     *   in vain
     * @param {import('./lock-options.js').LockOptions} options
     * @returns {Promise<T>}
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
     * For `await using held = await lock.acquire()`.
     *
     * @overload
     * @param {import('./lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<import('./held.js').Held>} rejects as run()
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @overload
     * @param {import('./lock-options.js').LockOptions} options
     * @returns {Promise<import('./held.js').Held | null>} null when it was asked for in vain
     */
    /**
     * @param {import('./lock-options.js').LockOptions} [options]
     * @returns {Promise<any>}
     */
    async acquire(options) {
        return this.#locks.acquireOne(this.name, options);
    }

    /** Whether anybody holds it, in any tab. */
    async isLocked() {
        return (await this.query()).some(({ state }) => state === 'held');
    }

    /**
     * Resolves when nobody holds it.
     * @param {{ signal?: AbortSignal, timeout?: number }} [options]
     */
    async waitForUnlock(options) {
        return this.#locks.waitForUnlock(this.name, options);
    }

    /** The requests that hold it and those that wait for it, in order. */
    async query() {
        return this.#locks.query(this.name);
    }

    /**
     * Calls `listener` with the result of query(), at once and whenever a tab acquired, released or lost the
     * lock.
     *
     * @param {(requests: import('./tab-locks.js').LockRequestInfo[]) => void} listener
     * @returns {() => void} ends it
     * @throws {TabacusError} `invalid-argument`, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        return this.#locks.subscribe(this.name, listener);
    }
}
