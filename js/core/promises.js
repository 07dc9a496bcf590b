import { TabacusError, TabacusRangeError } from '../common/errors.js';

/** @typedef {import('./generated/enums/error-code.js').ErrorCodeName} ErrorCodeName */

/**
 * The error that a code and a message of the core's stand for.
 *
 * @param {ErrorCodeName} code
 * @param {string} message
 */
const errorOf = (code, message) =>
    code === 'out-of-range'
        ? new TabacusRangeError(message)
        : new TabacusError(/** @type {import('../common/errors.js').TabacusErrorCode} */ (code), message);

/** How many calls of one program may be unanswered at once (docs/guarantees.md). */
const openMax = 2 ** 20;

/**
 * A call that is not answered. `read` makes the result of what answers it.
 *
 * @typedef {{ resolve: (value: any) => void, reject: (error: Error) => void, read: Read | undefined }} Open
 */

/** What answers a call is a number, or is packed. @typedef {(answer: any) => unknown} Read */

/**
 * Calls of the core that have not been answered, by number. None outlives the tab: what the core
 * leaves open at the end is refused.
 */
export class Promises {
    /** @type {Map<number, Open>} */
    #open = new Map();

    #last = 0;

    /**
     * @param {(id: number) => void} start
     * @param {Read} [read]
     * @param {number} [most] how many may be unanswered at once
     * @returns {Promise<any>} rejects with `out-of-memory` where there are as many
     */
    make(start, read, most = openMax) {
        return new Promise((resolve, reject) => {
            if (this.#open.size >= most) {
                throw new TabacusError(
                    'out-of-memory',
                    `this tab has ${most} calls that are not answered, and no room for another`,
                );
            }
            const id = ++this.#last;
            this.#open.set(id, { resolve, reject, read });
            try {
                start(id);
            } catch (error) {
                this.#open.delete(id);
                throw error;
            }
        });
    }

    /**
     * For calls that are answered before they return: throws what they are rejected with.
     *
     * @param {(id: number) => void} start
     * @param {Read} [read]
     * @returns {any} what they are resolved with, if with anything
     */
    now(start, read) {
        /** @type {Error | undefined} */
        let failure;
        let result;
        const id = ++this.#last;
        this.#open.set(id, {
            resolve: (value) => (result = value),
            reject: (error) => (failure = error),
            read,
        });
        try {
            start(id);
        } finally {
            this.#open.delete(id);
        }
        if (failure) throw failure;
        return result;
    }

    /**
     * @param {number} id
     * @param {unknown} answer as `read` takes it
     */
    resolve(id, answer) {
        const call = this.#take(id);
        if (!call) return;
        try {
            call.resolve(call.read ? call.read(answer) : answer);
        } catch (cause) {
            call.reject(new TabacusError('internal', 'an answer of the core cannot be read', { cause }));
        }
    }

    /**
     * @param {number} id
     * @param {import('./packed.js').Unpacker} answer
     */
    answer(id, answer) {
        this.resolve(id, answer);
    }

    /**
     * @param {number} id
     * @param {ErrorCodeName} code
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
