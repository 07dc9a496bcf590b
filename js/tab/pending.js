import { TabacusError, TabacusRangeError } from '../errors.js';

/**
 * The error that a code and a message of the core's stand for.
 *
 * @param {import('../errors.js').TabacusErrorCode} code
 * @param {string} message
 */
export const errorOf = (code, message) =>
    code === 'out-of-range' ? new TabacusRangeError(message) : new TabacusError(code, message);

/**
 * Calls of the core that have not been answered. None outlives the tab: what the core leaves open at
 * the end is refused here.
 */
export class Pending {
    /** @type {Set<import('../core/tab-core.js').Reject>} */
    #rejects = new Set();

    /**
     * @template T
     * @param {(resolve: (value: T) => void, reject: import('../core/tab-core.js').Reject) => void} start
     * @returns {Promise<T>}
     */
    promise(start) {
        return new Promise((resolve, reject) => {
            /** @type {import('../core/tab-core.js').Reject} */
            const refuse = (code, message) => {
                this.#rejects.delete(refuse);
                reject(errorOf(code, message));
            };
            this.#rejects.add(refuse);
            /** @param {T} value */
            const settle = (value) => {
                this.#rejects.delete(refuse);
                resolve(value);
            };
            start(settle, refuse);
        });
    }

    refuseAll() {
        for (const refuse of [...this.#rejects]) refuse('closed', 'the tab was closed before this was done');
    }
}
