import { checkFunction } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';

/**
 * A semaphore: at most `permits` callers hold it at once, over all tabs of the origin that open the same
 * namespace. Requests are served first come, first served. `tab.semaphore(name, permits)` returns it.
 *
 * @example
 * await tab.semaphore('downloads', 3).run(async ({ signal }) => fetch(url, { signal }));
 */
export class Semaphore extends Successor {
    #locks;

    /**
     * @param {{ name: string }} object
     * @param {number} permits
     * @param {import('./tab-locks.js').TabLocks} locks
     * @internal
     */
    constructor(object, permits, locks) {
        super(object);
        this.name = object.name;
        this.permits = permits;
        this.#locks = locks;
    }

    /**
     * Acquires a permit, runs `use`, and releases the permit.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held) => T | Promise<T>} use `held.token` rises with every grant of
     *   the same permit
     * @param {SemaphoreOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns; rejects as Lock.run() does
     */
    /**
     * With `ifAvailable`, the call never waits: if no permit is free, `use` gets null.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held | null) => T | Promise<T>} use
     * @param {SemaphoreOptions} options
     * @returns {Promise<T>} what `use` returns; rejects as Lock.run() does
     */
    /**
     * @param {(held: any) => any} use
     * @param {SemaphoreOptions} [options]
     * @returns {Promise<any>}
     */
    async run(use, options) {
        checkFunction('use', use);
        const locks = this.#locks;
        return locks.use(await locks.permit(this.name, this.permits, options), use, false);
    }

    /**
     * Acquires a permit. `await using held = await semaphore.acquire()` releases it at the end of the block;
     * otherwise call `held.release()`.
     *
     * @overload
     * @param {SemaphoreOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<import('./held.js').Held>} rejects as Lock.run() does
     */
    /**
     * With `ifAvailable`, the call never waits.
     *
     * @overload
     * @param {SemaphoreOptions} options
     * @returns {Promise<import('./held.js').Held | null>} null if no permit is free
     */
    /**
     * @param {SemaphoreOptions} [options]
     * @returns {Promise<any>}
     */
    async acquire(options) {
        return (await this.#locks.permit(this.name, this.permits, options))[0] ?? null;
    }
}

/** @typedef {Omit<import('./lock-options.js').LockOptions, 'mode' | 'steal' | 'fence' | 'evictUnresponsive'>} SemaphoreOptions */
