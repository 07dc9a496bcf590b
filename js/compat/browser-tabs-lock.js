/**
 * In place of the package browser-tabs-lock: the same class, the same two methods.
 *
 * It excludes by tabacus's locks: its holder is not notified of a loss either, but a tab that dies, freezes or is
 * hidden for ever lets its lock go. Both kinds do not exclude each other: change all pages at once.
 *
 * @module
 */

import { lazyTab } from './lazy-tab.js';

/** The longest timer that every engine counts. */
const timeoutMsMax = 2 ** 31 - 1;

export default class SuperTokensLock {
    #tab;

    /** @type {Map<string, import('../lock/held.js').Held>} */
    #held = new Map();

    /**
     * @param {unknown} [_storageHandler] of browser-tabs-lock: not needed
     * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab> } | null} [options] a tab that is
     *   open already
     */
    constructor(_storageHandler, options) {
        this.#tab = lazyTab('browser-tabs-lock', options?.tab);
        // As there: they may be taken off the object.
        this.acquireLock = this.acquireLock.bind(this);
        this.releaseLock = this.releaseLock.bind(this);
    }

    /**
     * Also of the tab that holds it, and of this very object, it waits for the release.
     *
     * @param {string} lockKey any string
     * @param {number} [timeout] milliseconds; of none or less it is false at once
     * @returns {Promise<boolean>} false: not in time
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
     * Nothing, of a lock that is not held.
     * @param {string} lockKey
     */
    async releaseLock(lockKey) {
        this.#held.get(`${lockKey}`)?.release();
        this.#held.delete(`${lockKey}`);
    }
}
