import { TabacusError, TabacusRangeError } from '../common/errors.js';

/** @typedef {import('./generated/enums/error-code.js').ErrorCodeName} ErrorCodeName */

/**
 * Makes the error for a code and a message of the core.
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
 * A call that is not answered. `read` makes its result from the answer.
 *
 * @typedef {{ resolve: (value: any) => void, reject: (error: Error) => void, read: Read | undefined }} Open
 */

/** Converts an answer, which is a number or an Unpacker, into a result. @typedef {(answer: any) => unknown} Read */

/**
 * The calls of the core that are not answered, by number. Every call is answered: when the tab ends, the
 * remaining ones are rejected.
 */
export class Promises {
    /** @type {Map<number, Open>} */
    #open = new Map();

    #last = 0;

    /**
     * Makes a call of the core, and returns a promise of its result.
     *
     * @param {(id: number) => void} start makes the call; the core answers by the number `id`
     * @param {Read} [read]
     * @param {number} [most] how many calls may be unanswered at once
     * @returns {Promise<any>} rejects with `out-of-memory` if that many are
     */
    make(start, read, most = openMax) {
        return new Promise((resolve, reject) => {
            if (this.#open.size >= most) {
                throw new TabacusError(
                    'out-of-memory',
                    `this tab has ${most} calls that are not answered, and can make no more`,
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

    /** The number of calls that are not answered. */
    get size() {
        return this.#open.size;
    }

    /** Whether the call that was made last is not answered. */
    get lastIsOpen() {
        return this.#open.has(this.#last);
    }

    /**
     * Makes a call that the core answers before it returns, and returns its result. Throws the error of the
     * call.
     *
     * @param {(id: number) => void} start makes the call; the core answers by the number `id`
     * @param {Read} [read]
     * @returns {any} the result, or undefined if there is none
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
     * Resolves a call.
     *
     * @param {number} id
     * @param {unknown} answer
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
     * Resolves a call with a packed answer.
     *
     * @param {number} id
     * @param {import('./packed.js').Unpacker} answer
     */
    answer(id, answer) {
        this.resolve(id, answer);
    }

    /**
     * Rejects a call.
     *
     * @param {number} id
     * @param {ErrorCodeName} code
     * @param {string} message
     */
    reject(id, code, message) {
        this.#take(id)?.reject(errorOf(code, message));
    }

    /** Rejects all calls that are not answered. @param {TabacusError} error */
    rejectAll(error) {
        for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error);
    }

    /** Removes a call, and returns it. @param {number} id */
    #take(id) {
        const found = this.#open.get(id);
        this.#open.delete(id);
        return found;
    }
}
