/**
 * Every error that tabacus itself raises carries a `code`, and says in words whose fault it is and
 * what to do. Aborts and timeouts are the platform's own `AbortError` and `TimeoutError` instead.
 *
 * `TabacusRangeError` must be a `RangeError` and a `TabacusError` at once. JavaScript has one
 * prototype chain, so `instanceof TabacusError` looks for a brand and not for a prototype; the
 * brand is a registered symbol, so that two copies of the package in one page recognise each other.
 */

/**
 * What went wrong, for programs.
 *
 * - `invalid-argument`: the caller passed something that is never allowed there.
 * - `out-of-range`: the result would leave the exact integers; nothing was changed.
 * - `closed`: the object was closed before the call.
 * - `weaker-guarantee`: this place can only promise less than was asked for.
 * - `unavailable`: this place lacks what the call needs at all.
 * - `quota-exceeded`, `store-failed`, `unknown-commit`: what the store said.
 * - `fenced`: another owner took the row over, or the lock was granted to another; nothing of the call was kept.
 * - `lock-lost`: the lock was released, or lost (stolen, maxHold, the page frozen or hidden).
 * - `deadlock`: a cycle of waits, ended by refusing this one.
 * - `not-owner`: an unlock of a mutex that the caller does not hold.
 * - `would-block`: a blocking call on a main thread, which must not block.
 * - `would-deadlock`: a blocking lock of a mutex that the caller already holds.
 * - `kind-mismatch`: the name already belongs to an object of another kind.
 * - `out-of-memory`: a fixed arena or table is full, or the platform gives no memory.
 * - `queue-full`: the queue is as long as its limit allows.
 * - `not-cloneable`: a payload or a result that cannot be cloned.
 * - `lost-worker`: the tab that ran a job was lost, and it is not to be run again.
 *
 * @typedef {'invalid-argument' | 'out-of-range' | 'closed' | 'weaker-guarantee' | 'unavailable'
 *   | 'quota-exceeded' | 'store-failed' | 'unknown-commit' | 'fenced' | 'lock-lost' | 'deadlock' | 'not-owner'
 *   | 'would-block' | 'would-deadlock' | 'kind-mismatch' | 'out-of-memory' | 'queue-full' | 'not-cloneable' | 'lost-worker'} TabacusErrorCode
 */

/**
 * @typedef {object} TabacusErrorDetails
 * @property {string} [argument] the name of the argument that was refused
 * @property {unknown} [value] what was passed for it
 * @property {string} [allowed] in words, what would have been accepted
 * @property {unknown} [cause] the error underneath
 */

const brand = Symbol.for('tabacus.error');

/**
 * Fills the fields that both classes share.
 *
 * @param {Error} error
 * @param {TabacusErrorCode} code
 * @param {TabacusErrorDetails} details
 */
function describe(error, code, { argument, value, allowed }) {
    Object.defineProperty(error, brand, { value: true });
    Object.assign(error, { code });
    if (argument !== undefined) Object.assign(error, { argument, value, allowed });
}

/** @param {TabacusErrorDetails} details */
const causeOf = (details) => ('cause' in details ? { cause: details.cause } : undefined);

/** An error raised by tabacus; see {@link TabacusErrorCode} for what `code` may say. */
export class TabacusError extends Error {
    /**
     * True for everything that tabacus raises, `TabacusRangeError` and other copies of the package
     * included.
     *
     * @param {unknown} candidate
     */
    static [Symbol.hasInstance](candidate) {
        if (this !== TabacusError) return Function.prototype[Symbol.hasInstance].call(this, candidate);
        return typeof candidate === 'object' && candidate !== null && brand in candidate;
    }

    /** @type {TabacusErrorCode} */
    code = 'invalid-argument';

    /** @type {string | undefined} The argument that was refused, where there is one. */
    argument;

    /** @type {unknown} What was passed for it. */
    value;

    /** @type {string | undefined} In words, what would have been accepted. */
    allowed;

    /**
     * @param {TabacusErrorCode} code
     * @param {string} message
     * @param {TabacusErrorDetails} [details]
     */
    constructor(code, message, details = {}) {
        super(message, causeOf(details));
        this.name = 'TabacusError';
        describe(this, code, details);
    }
}

/** A cycle of waits over locks, tabs or both; the message names labels and locks. This request ended it. */
export class DeadlockError extends TabacusError {
    /** @param {string} message */
    constructor(message) {
        super('deadlock', message);
        this.name = 'DeadlockError';
    }
}

/** The result would leave the exact integers. Nothing was changed. */
export class TabacusRangeError extends RangeError {
    /** @type {TabacusErrorCode} */
    code = 'out-of-range';

    /** @type {string | undefined} The argument that was refused, where there is one. */
    argument;

    /** @type {unknown} What was passed for it. */
    value;

    /** @type {string | undefined} In words, what would have been accepted. */
    allowed;

    /**
     * @param {string} message
     * @param {TabacusErrorDetails} [details]
     */
    constructor(message, details = {}) {
        super(message, causeOf(details));
        this.name = 'TabacusRangeError';
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
 * @param {string} allowed in words: "must be …" continues with it
 * @returns {TabacusError}
 */
export function invalid(argument, value, allowed) {
    return new TabacusError('invalid-argument', `${argument} must be ${allowed}, not ${show(value)}`, {
        argument,
        value,
        allowed,
    });
}
