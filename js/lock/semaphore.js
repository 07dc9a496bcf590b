import { checkFunction } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';

/**
 * At most `permits` at once, over all tabs of the origin that open the same namespace; first come, first
 * served. Made by `tab.semaphore(name, permits)`.
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
     * Runs `use` with a permit, and gives it back.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held) => T | Promise<T>} use its token rises with every grant of the
     *   same permit
     * @param {SemaphoreOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns; rejects as Lock.run()
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @template T
     * @overload
     * @param {(held: import('./held.js').Held | null) => T | Promise<T>} use given null when it was asked for
     *   in vain
     * @param {SemaphoreOptions} options
     * @returns {Promise<T>}
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
     * For `await using held = await semaphore.acquire()`.
     *
     * @overload
     * @param {SemaphoreOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<import('./held.js').Held>} rejects as Lock.run()
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @overload
     * @param {SemaphoreOptions} options
     * @returns {Promise<import('./held.js').Held | null>} null when it was asked for in vain
     */
    /**
     * @param {SemaphoreOptions} [options]
     * @returns {Promise<any>}
     */
    async acquire(options) {
        return (await this.#locks.permit(this.name, this.permits, options))[0] ?? null;
    }
}

/** @typedef {Omit<import('./lock-options.js').LockOptions, 'mode' | 'steal'>} SemaphoreOptions */
