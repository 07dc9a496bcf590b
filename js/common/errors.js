/**
 * The errors of tabacus. Each has a `code` for programs, and a message that names what happened, why, and
 * what to do. Aborts and timeouts are reported by the platform's own `AbortError` and `TimeoutError` instead.
 *
 * `instanceof` checks a brand of these errors and not their prototypes. There are two reasons:
 * `TabacusRangeError` must be both a `RangeError` and a `TabacusError`, but an object has one prototype
 * chain; and a Worker, or a second copy of the package in the page, has copies of these classes. The brand is
 * a property with a registered symbol as its key and the error's code as its value.
 */

/** @typedef {import('./generated/error-codes.js').TabacusErrorCode} TabacusErrorCode */

/**
 * The details of an error. Those of an argument become properties of the error.
 *
 * @typedef {object} TabacusErrorDetails
 * @property {string} [argument] the name of the argument that was refused
 * @property {unknown} [value] what was passed for it
 * @property {string} [allowed] a description of what would have been accepted
 * @property {unknown} [cause] the error underneath
 */

const brand = Symbol.for('tabacus.error');

/**
 * Fills the fields that both classes share.
 *
 * @param {TabacusError | TabacusRangeError} error
 * @param {TabacusErrorCode} code
 * @param {TabacusErrorDetails} details
 */
function describe(error, code, { argument, value, allowed }) {
    Object.defineProperty(error, brand, { value: code });
    error.code = code;
    if (argument !== undefined) Object.assign(error, { argument, value, allowed });
}

/**
 * Returns the result of `instanceof` for a class of this file or a class that extends one.
 *
 * @param {Function} type the class that the candidate is compared with
 * @param {Function} branded the class of this file. A class that extends it has no brand, so its prototype is
 *   compared
 * @param {any} candidate
 * @param {TabacusErrorCode} [code] the code of all errors of the class, if they have the same
 * @returns {boolean}
 */
function hasBrand(type, branded, candidate, code) {
    if (type !== branded) return Function.prototype[Symbol.hasInstance].call(type, candidate);
    if (typeof candidate !== 'object' || candidate === null || !(brand in candidate)) return false;
    return code === undefined || candidate[brand] === code;
}

/** Returns the second argument for the constructor of Error. @param {TabacusErrorDetails} details */
const causeOf = (details) => ('cause' in details ? { cause: details.cause } : undefined);

/** An error raised by tabacus; see {@link TabacusErrorCode} for the values of `code`. */
export class TabacusError extends Error {
    /**
     * Returns true for every error that tabacus raises, including `TabacusRangeError` and the errors of other copies
     * of the package.
     *
     * @param {unknown} candidate
     */
    static [Symbol.hasInstance](candidate) {
        return hasBrand(this, TabacusError, candidate);
    }

    /** A field, because an assignment would fail in a page that has frozen `Error.prototype`. @override */
    name = 'TabacusError';

    /** @type {TabacusErrorCode} */
    code = 'invalid-argument';

    /** @type {string | undefined} The argument that was refused, where there is one. */
    argument;

    /** @type {unknown} What was passed for it. */
    value;

    /** @type {string | undefined} A description of what would have been accepted. */
    allowed;

    /**
     * @param {TabacusErrorCode} code
     * @param {string} message
     * @param {TabacusErrorDetails} [details]
     */
    constructor(code, message, details = {}) {
        super(message, causeOf(details));
        describe(this, code, details);
    }
}

/**
 * The error of a request for a lock that was part of a deadlock: a cycle of waits over locks, tabs or both.
 * The message names the labels and the locks of the cycle. This request was rejected in order to end it.
 */
export class DeadlockError extends TabacusError {
    /** @override */
    name = 'DeadlockError';

    /**
     * Returns true also for a DeadlockError of another copy of the package.
     *
     * @param {unknown} candidate
     */
    static [Symbol.hasInstance](candidate) {
        return hasBrand(this, DeadlockError, candidate, 'deadlock');
    }

    /** @param {string} message */
    constructor(message) {
        super('deadlock', message);
    }
}

/**
 * The error of an operation whose result would leave the exact integers, ±(2^53 − 1). Nothing was changed.
 */
export class TabacusRangeError extends RangeError {
    /** @override */
    name = 'TabacusRangeError';

    /**
     * Returns true also for a TabacusRangeError of another copy of the package.
     *
     * @param {unknown} candidate
     */
    static [Symbol.hasInstance](candidate) {
        return hasBrand(this, TabacusRangeError, candidate, 'out-of-range');
    }

    /** @type {TabacusErrorCode} */
    code = 'out-of-range';

    /** @type {string | undefined} The argument that was refused, where there is one. */
    argument;

    /** @type {unknown} What was passed for it. */
    value;

    /** @type {string | undefined} A description of what would have been accepted. */
    allowed;

    /**
     * @param {string} message
     * @param {TabacusErrorDetails} [details]
     */
    constructor(message, details = {}) {
        super(message, causeOf(details));
        describe(this, 'out-of-range', details);
    }
}

/** Whether a value is an array. Never throws. @param {unknown} value */
function isArray(value) {
    try {
        return Array.isArray(value);
    } catch {
        return false; // a revoked proxy
    }
}

/**
 * Messages show at most so many characters of a value, so that they can be read. `.value` has the whole
 * value.
 */
const shownChars = 40;

/**
 * Describes a value for a message. It runs no code of the value (no `toString`, no getter), which might throw
 * here.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
    if (value === null) return 'null';
    switch (typeof value) {
        case 'string':
            return value.length > shownChars
                ? `${JSON.stringify(value.slice(0, shownChars))}… (${value.length} units)`
                : JSON.stringify(value);
        case 'bigint': {
            const digits = `${value}n`;
            return digits.length > shownChars ? `${digits.slice(0, shownChars)}… (a bigint)` : digits;
        }
        case 'object':
            return isArray(value) ? 'an array' : 'an object';
        case 'function':
            return 'a function';
        default:
            return Object.is(value, -0) ? '-0' : String(value);
    }
}

/**
 * Makes the error for an argument that is not allowed.
 *
 * @param {string} argument
 * @param {unknown} value
 * @param {string} allowed continues the message "… must be "
 * @returns {TabacusError}
 */
export function invalid(argument, value, allowed) {
    return new TabacusError('invalid-argument', `${argument} must be ${allowed}, not ${show(value)}`, {
        argument,
        value,
        allowed,
    });
}

/** Makes the error of a call that is made after its tab was closed. */
export const closedError = () => new TabacusError('closed', 'the tab is closed: open() another');
