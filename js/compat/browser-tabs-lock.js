/**
 * In place of the package browser-tabs-lock: the same class, the same two methods.
 *
 * It excludes by tabacus's locks: its holder is told of nothing either, but a tab that dies, freezes or is
 * hidden for ever lets its lock go. Both kinds do not exclude each other: change all pages at once.
 *
 * @module
 */

import { opener } from './opened.js';

export default class SuperTokensLock {
    #tab;

    /** @type {Map<string, import('../lock/held.js').Held>} */
    #held = new Map();

    /**
     * @param {unknown} [_storageHandler] of browser-tabs-lock: not needed
     * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab> }} [options] a tab that is
     *   open already
     */
    constructor(_storageHandler, { tab } = {}) {
        this.#tab = opener('browser-tabs-lock', tab);
    }

    /**
     * @param {string} lockKey
     * @param {number} [timeout] milliseconds
     * @returns {Promise<boolean>} false: not in time
     */
    async acquireLock(lockKey, timeout = 5000) {
        try {
            const held = await (await this.#tab()).lock(lockKey).acquire({ timeout });
            if (held) this.#held.set(lockKey, held);
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
        this.#held.get(lockKey)?.release();
        this.#held.delete(lockKey);
    }
}
