import { TabacusError, TabacusRangeError } from '../common/errors.js';

/**
 * The error that a code and a message of the core's stand for.
 *
 * @param {string} code
 * @param {string} message
 */
const errorOf = (code, message) =>
    code === 'out-of-range'
        ? new TabacusRangeError(message)
        : new TabacusError(/** @type {import('../common/errors.js').TabacusErrorCode} */ (code), message);

/** Of one program (docs/guarantees.md). */
const openMax = 2 ** 20;

/**
 * Calls of the core that have not been answered, by number. None outlives the tab: what the core
 * leaves open at the end is refused.
 */
export class Promises {
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    #open = new Map();

    #last = 0;

    /**
     * @param {(id: number) => void} start
     * @returns {Promise<any>}
     */
    make(start) {
        if (this.#open.size === openMax) {
            const message = `this tab has ${openMax} calls that are not answered, and no room for another`;
            return Promise.reject(new TabacusError('out-of-memory', message));
        }
        return new Promise((resolve, reject) => {
            const id = ++this.#last;
            this.#open.set(id, { resolve, reject });
            start(id);
        });
    }

    /**
     * For calls that are answered before they return: throws what they are rejected with.
     *
     * @param {(id: number) => void} start
     * @returns {any} what they are resolved with, if with anything
     */
    now(start) {
        /** @type {Error | undefined} */
        let failure;
        let result;
        const id = ++this.#last;
        this.#open.set(id, { resolve: (value) => (result = value), reject: (error) => (failure = error) });
        start(id);
        this.#open.delete(id);
        if (failure) throw failure;
        return result;
    }

    /**
     * @param {number} id
     * @param {unknown} value
     */
    resolve(id, value) {
        this.#take(id)?.resolve(value);
    }

    /**
     * @param {number} id
     * @param {string} code
     * @param {string} message
     */
    reject(id, code, message) {
        this.#take(id)?.reject(errorOf(code, message));
    }

    /** @param {TabacusError} error */
    rejectAll(error) {
        for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error);
    }

    /** @param {number} id */
    #take(id) {
        const found = this.#open.get(id);
        this.#open.delete(id);
        return found;
    }
}
