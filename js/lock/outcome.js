/**
 * The outcome of a run for which other tabs wait (once(), Leader.call()): how it is sent to them, and what
 * they receive.
 */

import { DeadlockError, TabacusError, TabacusRangeError } from '../common/errors.js';
import { storable } from '../host/storable.js';

/**
 * Returns the value of a run that succeeded. Throws the error of a run that failed.
 *
 * @param {boolean} succeeded
 * @param {any} result an object with the value, or what cloneError() returned
 */
export function unwrapOutcome(succeeded, result) {
    const { value, name, message, code, dom, thrown, details } = result;
    if (succeeded) return value;
    if ('thrown' in result && !(thrown instanceof Error)) throw thrown;
    const own = ownError(name, code, message, details);
    if (own) throw own;
    const error = thrown ?? (dom ? new DOMException(message, name) : new Error(message));
    // A clone keeps its name only if that is the name of one of the platform's own errors, and it never keeps
    // a code.
    if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true });
    throw code === undefined || error instanceof DOMException ? error : Object.assign(error, { code });
}

/**
 * Makes an error of tabacus, of the class that `name` names. Returns undefined if there is no such class.
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

/** Whether a value is a DOMException, of any realm. @param {unknown} thrown */
const isDom = (thrown) => Object.prototype.toString.call(thrown) === '[object DOMException]';

/**
 * Describes any thrown value by a name, a message and a code. It never throws, although reading the value
 * may. The code of a DOMException is left out, because its name determines it.
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

/** Returns the details that are texts. @param {import('../common/errors.js').TabacusError} error */
const detailsOf = ({ argument, allowed }) => ({ argument, allowed });

/**
 * Returns what other tabs get of an error: its name, message and code, and a clone of it if it can be cloned.
 * @param {unknown} error
 */
export function cloneError(error) {
    const result = {
        ...describeError(error),
        ...(error instanceof TabacusError && { details: detailsOf(error) }),
    };
    try {
        const thrown = storable(error);
        // An engine may clone a DOMException as an empty object. Then it is made again from its name and
        // message.
        return error instanceof Error && !(thrown instanceof Error) ? result : { ...result, thrown };
    } catch {
        return result;
    }
}

/**
 * Whether a value is a promise or another thenable.
 *
 * @param {any} value reading its `then` may throw
 * @returns {value is PromiseLike<unknown>}
 */
export const isThenable = (value) => typeof value?.then === 'function';

/**
 * Resolves with what `run` returns. Rejects as soon as the lock is lost. It removes its listener from the
 * signal, which may live for much longer.
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
