/**
 * Payloads and results, as texts: JSON of what is the same after it, `u` of undefined. All others are kept as
 * IndexedDB keeps them, by structured clone, and the core knows them by a number.
 */

import { storable } from '../host/storable.js';
import { show, TabacusError } from '../common/errors.js';
import { describeError, ownError } from '../lock/outcome.js';

/** A value that is nested deeper may be a cycle. */
const depthMax = 32;

/** @typedef {import('../core/generated/queues.js').QueueValue} QueueValue */

/**
 * Whether JSON gives the value back as it is.
 *
 * @param {unknown} value
 * @param {number} depth
 * @param {Set<unknown>} [seen] what is there twice is one thing, in a clone too
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
 * @param {string} argument
 * @param {unknown} value
 * @param {import('../host/values.js').Values} values keeps what is no text
 * @returns {QueueValue}
 */
export function packed(argument, value, values) {
    if (value === undefined) return { text: 'u', byValue: false };
    try {
        // A getter of it may throw.
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
 * @param {QueueValue} value
 * @param {import('../host/values.js').Values} values
 * @returns {any}
 */
export function unpacked({ text, byValue }, values) {
    if (byValue) return values.take(text);
    return text === 'u' || text === '' ? undefined : JSON.parse(text);
}

/**
 * The text of an error for other tabs: its name, message and code. What is no error is kept as it is if JSON can.
 * @param {unknown} error
 */
export function errorText(error) {
    if (error === undefined) return JSON.stringify({ nothing: true });
    try {
        if (!(error instanceof Error) && survives(error, depthMax)) return JSON.stringify({ value: error });
    } catch {
        // It can be described only.
    }
    return JSON.stringify(describeError(error));
}

/** The classes of errors that every context has. @type {Record<string, ErrorConstructor>} */
const classes = { RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError };

/**
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
    const known = Object.hasOwn(classes, name) ? classes[name] : undefined; // not what every object inherits
    const error = new (known ?? Error)(String(message));
    if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true });
    return code === undefined ? error : Object.assign(error, { code });
}
