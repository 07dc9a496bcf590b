/**
 * Every error that tabacus itself raises carries a `code`, and its message says whose fault it is and
 * what to do. Aborts and timeouts are the platform's own `AbortError` and `TimeoutError` instead.
 *
 * `TabacusRangeError` must be a `RangeError` and a `TabacusError` at once, and JavaScript has one prototype chain.
 * Files of the package that a Worker loads have copies of these classes, and so has a second copy of the package in
 * the page. So `instanceof` checks a brand and not a prototype: a property whose key is a registered symbol, and
 * whose value is the error's code.
 */

/** @typedef {import('./generated/error-codes.js').TabacusErrorCode} TabacusErrorCode */

/**
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
 * What `instanceof` returns.
 *
 * @param {Function} type what the error is compared with
 * @param {Function} branded the class that has the brand; a class that extends it has only its prototype
 * @param {any} candidate
 * @param {TabacusErrorCode} [code] the one that errors of the class have, if it is one
 * @returns {boolean}
 */
function hasBrand(type, branded, candidate, code) {
    if (type !== branded) return Function.prototype[Symbol.hasInstance].call(type, candidate);
    if (typeof candidate !== 'object' || candidate === null || !(brand in candidate)) return false;
    return code === undefined || candidate[brand] === code;
}

/** @param {TabacusErrorDetails} details */
const causeOf = (details) => ('cause' in details ? { cause: details.cause } : undefined);

/** An error raised by tabacus; see {@link TabacusErrorCode} for the values of `code`. */
export class TabacusError extends Error {
    /**
     * True for everything that tabacus raises, `TabacusRangeError` and other copies of the package
     * included.
     *
     * @param {unknown} candidate
     */
    static [Symbol.hasInstance](candidate) {
        return hasBrand(this, TabacusError, candidate);
    }

    /** A field, since an assignment would fail where a page has frozen `Error.prototype`. @override */
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

/** A cycle of waits over locks, tabs or both; the message names labels and locks. This request ended it. */
export class DeadlockError extends TabacusError {
    /** @override */
    name = 'DeadlockError';

    /**
     * True for those of other copies of the package, too.
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

/** The result would leave the exact integers. Nothing was changed. */
export class TabacusRangeError extends RangeError {
    /** @override */
    name = 'TabacusRangeError';

    /**
     * True for those of other copies of the package, too.
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

/** @param {unknown} value */
function isArray(value) {
    try {
        return Array.isArray(value);
    } catch {
        return false; // a proxy that was revoked
    }
}

/** Longer strings are cut in messages: a message is for reading. The whole value is in `.value`. */
const shownChars = 40;

/**
 * A value as a message can show it. Never runs the value's own code (no `toString`, no getter): a
 * hostile argument must not be able to throw out of our error path.
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
 * The error for an argument that is never allowed.
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

/** The error of a call that comes after its tab was closed. */
export const closedError = () => new TabacusError('closed', 'the tab is closed: open() another');
