/**
 * A replacement for the package browser-tabs-lock, with the same class and the same two methods.
 *
 * It uses tabacus' locks. A holder is not notified if it loses the lock, as with the original. The lock of a tab
 * that dies, is frozen or goes into the back/forward cache is released. The locks of the two packages do not
 * exclude each other: replace the package in all pages at once.
 *
 * @module
 */

import { lazyTab } from './lazy-tab.js';

/** The longest timer that every engine supports: 2^31−1 ms, 24 days. */
const timeoutMsMax = 2 ** 31 - 1;

export default class SuperTokensLock {
    #tab;

    /** @type {Map<string, import('../lock/held.js').Held>} */
    #held = new Map();

    /**
     * @param {unknown} [_storageHandler] an argument of browser-tabs-lock, which is ignored
     * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab> } | null} [options]
     *   `tab`: a tab that is already open. By default it opens one of its own
     */
    constructor(_storageHandler, options) {
        this.#tab = lazyTab('browser-tabs-lock', options?.tab);
        // The methods are bound, as those of browser-tabs-lock: callers may use them without the object.
        this.acquireLock = this.acquireLock.bind(this);
        this.releaseLock = this.releaseLock.bind(this);
    }

    /**
     * Acquires a lock. If the lock is held, it waits for its release, even if this object is the holder.
     *
     * @param {string} lockKey any string
     * @param {number} [timeout] the longest wait in milliseconds, 5000 by default; with 0 or less the result
     *   is false
     * @returns {Promise<boolean>} whether it has acquired the lock in time
     */
    async acquireLock(lockKey, timeout = 5000) {
        if (!(timeout > 0)) return false;
        const limit = Math.min(timeout, timeoutMsMax);
        try {
            const held = await (await this.#tab())._acquire(`${lockKey}`, { timeout: limit });
            if (held) this.#held.set(`${lockKey}`, held);
            return held !== null;
        } catch (error) {
            if (error instanceof DOMException && error.name === 'TimeoutError') return false;
            throw error;
        }
    }

    /**
     * Releases a lock. Does nothing if this object does not hold it.
     * @param {string} lockKey
     */
    async releaseLock(lockKey) {
        this.#held.get(`${lockKey}`)?.release();
        this.#held.delete(`${lockKey}`);
    }
}
