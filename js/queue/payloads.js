/**
 * Payloads and results as the core keeps them. A value that is the same after JSON is kept as JSON text, and
 * undefined as the text `u`. Every other value is kept by the host as a structured clone, and the core has a
 * number for it.
 */

import { storable } from '../host/storable.js';
import { show, TabacusError } from '../common/errors.js';
import { describeError, ownError } from '../lock/outcome.js';

/** A value that is nested deeper is not written as JSON: it may have a cycle. */
const depthMax = 32;

/** @typedef {import('../core/generated/queues.js').QueueValue} QueueValue */

/**
 * Whether a value is the same after it was written as JSON and read again.
 *
 * @param {unknown} value
 * @param {number} depth the deepest nesting allowed
 * @param {Set<unknown>} [seen] the objects found so far. An object that occurs twice does not survive: JSON
 *   makes two of it, a structured clone keeps it one
 * @returns {boolean}
 */
function survives(value, depth, seen = new Set()) {
    switch (typeof value) {
        case 'string':
        case 'boolean':
            return true;
        case 'number':
            return Number.isFinite(value) && !Object.is(value, -0);
        case 'object': {
            if (value === null) return true;
            if (depth === 0 || seen.has(value)) return false;
            seen.add(value);
            const isArray = Array.isArray(value);
            if (Object.getPrototypeOf(value) !== (isArray ? Array.prototype : Object.prototype)) return false;
            const own = Object.values(value);
            if (isArray && own.length !== value.length) return false;
            return !('toJSON' in value) && own.every((one) => survives(one, depth - 1, seen));
        }
        default:
            return false;
    }
}

/**
 * Converts a value for the core.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 * @param {import('../host/values.js').Values} values keeps a value that is not written as text
 * @returns {QueueValue}
 * @throws {TabacusError} `not-cloneable`
 */
export function packed(argument, value, values) {
    if (value === undefined) return { text: 'u', byValue: false };
    try {
        // A getter of the value may throw here.
        if (survives(value, depthMax)) return { text: JSON.stringify(value), byValue: false };
        return { text: values.keep(storable(value)), byValue: true };
    } catch (cause) {
        if (cause instanceof TabacusError) throw cause;
        const allowed = 'a value that can be cloned for storage (structuredClone, IndexedDB)';
        throw new TabacusError('not-cloneable', `${argument} must be ${allowed}, not ${show(value)}`, {
            argument,
            value,
            allowed,
            cause,
        });
    }
}

/**
 * Returns the value that packed() has converted.
 *
 * @param {QueueValue} value
 * @param {import('../host/values.js').Values} values
 * @returns {any}
 */
export function unpacked({ text, byValue }, values) {
    if (byValue) return values.take(text);
    return text === 'u' || text === '' ? undefined : JSON.parse(text);
}

/**
 * Writes the error of a job as text. An Error is described by its name, message and code. Any other thrown
 * value is written as JSON if it survives that, and is described in the same way otherwise.
 * @param {unknown} error
 */
export function errorText(error) {
    if (error === undefined) return JSON.stringify({ nothing: true });
    try {
        if (!(error instanceof Error) && survives(error, depthMax)) return JSON.stringify({ value: error });
    } catch {
        // A getter of the value has thrown: it is described below.
    }
    return JSON.stringify(describeError(error));
}

/** The classes of errors that every realm has. @type {Record<string, ErrorConstructor>} */
const classes = { RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError };

/**
 * Makes an error, of the same class where that is known, from the text that errorText() returned.
 *
 * @param {string} text
 * @returns {unknown}
 */
export function errorFrom(text) {
    /** @type {{ nothing?: boolean, value?: unknown, name?: string, message?: string, code?: string | number, dom?: boolean }} */
    let parsed;
    try {
        parsed = Object(JSON.parse(text));
    } catch {
        parsed = { message: text };
    }
    if (parsed.nothing) return undefined;
    if ('value' in parsed) return parsed.value;
    const { name = 'Error', message = '', code, dom } = parsed;
    if (dom) return new DOMException(message, name);
    const own = ownError(name, code, message);
    if (own) return own;
    const known = Object.hasOwn(classes, name) ? classes[name] : undefined; // `classes` inherits names from Object.prototype
    const error = new (known ?? Error)(String(message));
    if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true });
    return code === undefined ? error : Object.assign(error, { code });
}
