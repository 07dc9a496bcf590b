/** The outcome of a run that others wait for, as they receive it (once(), Leader.call()). */

import { DeadlockError, TabacusError, TabacusRangeError } from '../common/errors.js';
import { storable } from '../host/storable.js';

/**
 * Its value, or what it threw.
 *
 * @param {boolean} succeeded
 * @param {any} result
 */
export function unwrapOutcome(succeeded, result) {
    const { value, name, message, code, dom, thrown, details } = result;
    if (succeeded) return value;
    if ('thrown' in result && !(thrown instanceof Error)) throw thrown;
    const own = ownError(name, code, message, details);
    if (own) throw own;
    const error = thrown ?? (dom ? new DOMException(message, name) : new Error(message));
    // A clone keeps the names of the platform's own errors only, and no code.
    if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true });
    throw code === undefined || error instanceof DOMException ? error : Object.assign(error, { code });
}

/**
 * An error of ours, of its own class; undefined where it is none.
 *
 * @param {string} name
 * @param {any} code
 * @param {string} message
 * @param {import('../common/errors.js').TabacusErrorDetails} [details]
 */
export function ownError(name, code, message, details) {
    if (!code) return undefined;
    if (name === 'TabacusError') return new TabacusError(code, message, details);
    if (name === 'TabacusRangeError') return new TabacusRangeError(message, details);
    return name === 'DeadlockError' ? new DeadlockError(message) : undefined;
}

/** Whether it is a DOMException, of any realm. @param {unknown} thrown */
const isDom = (thrown) => Object.prototype.toString.call(thrown) === '[object DOMException]';

/**
 * Its name, message and code, whatever it is: reading it may throw. A DOMException has its code by its name.
 *
 * @param {unknown} thrown
 * @returns {{ name: string, message: string, code?: string | number, dom?: true }}
 */
export function describeError(thrown) {
    try {
        const { name = 'Error', message = String(thrown), code } = Object(thrown);
        const texts = { name: String(name) || 'Error', message: String(message) };
        if (isDom(thrown)) return { ...texts, dom: true };
        return typeof code === 'string' || Number.isFinite(code) ? { ...texts, code } : texts;
    } catch {
        return { name: 'Error', message: 'what was thrown cannot be read' };
    }
}

/** @param {import('../common/errors.js').TabacusError} error What was refused, as far as it is a text. */
const detailsOf = ({ argument, allowed }) => ({ argument, allowed });

/**
 * What others get of an error: its clone, with its name and code; at least its name and message.
 * @param {unknown} error
 */
export function cloneError(error) {
    const result = {
        ...describeError(error),
        ...(error instanceof TabacusError && { details: detailsOf(error) }),
    };
    try {
        const thrown = storable(error);
        // Where an engine clones a DOMException as an empty object, it is made again of its name and message.
        return error instanceof Error && !(thrown instanceof Error) ? result : { ...result, thrown };
    } catch {
        return result;
    }
}

/**
 * @param {unknown} value its `then` may throw
 * @returns {value is PromiseLike<unknown>}
 */
export const isThenable = (value) => typeof Object(value).then === 'function';

/**
 * What `run` gives; rejects as soon as the lock is lost. It leaves nothing at the signal, which may live long.
 *
 * @template T
 * @param {import('./held.js').Held} held
 * @param {() => T | Promise<T>} run
 * @returns {Promise<T>}
 */
export async function unlessAborted({ signal }, run) {
    let stop = () => {};
    /** @type {Promise<never>} */
    const lost = new Promise((_, reject) => (stop = () => reject(signal.reason)));
    signal.addEventListener('abort', stop);
    try {
        return await Promise.race([run(), lost]);
    } finally {
        signal.removeEventListener('abort', stop);
    }
}
