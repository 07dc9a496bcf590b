/** What tab.sequence(), tab.budget() and tab.rateLimit() return. Behind each is what all handles of an engine share. */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { Successor } from '../common/successor.js';
import { closedError } from '../common/errors.js';

/** @param {unknown} n */
export const checkAmount = (n) => checkInteger('n', n, 1, Number.MAX_SAFE_INTEGER);

/** Stands for what all handles share where it may not be used. @param {() => Error} error */
export function refusing(error) {
    const refuse = () => Promise.reject(error());
    const tryTake = async (/** @type {unknown} */ n = 1) => {
        checkAmount(n);
        throw error();
    };
    return { tryTake, next: refuse, reserve: refuse, give: refuse, take: refuse, refresh: refuse };
}

/** A handle that is closed has these in place of its functions. */
const closed = Object.defineProperty(refusing(closedError), 'available', {
    get() {
        throw closedError();
    },
});

class Handle extends Successor {
    /** What all handles share. @type {any} @protected */
    _shared;

    /**
     * @param {{ name: string }} object
     * @param {unknown} shared
     * @internal
     */
    constructor(object, shared) {
        super(object);
        this.name = object.name;
        this._shared = shared;
    }

    /** @override @internal */
    _end() {
        this._shared = closed;
    }
}

/**
 * Numbers that no two tabs get, and that rise in each: ids over all tabs of the origin and namespace, and
 * over restarts. From 1. Made by `tab.sequence(name, options)`.
 *
 * @example
 * const id = await tab.sequence('orders').next();
 */
export class Sequence extends Handle {
    /**
     * The next number: larger than every one that this tab got before, and never given to anybody else.
     *
     * @returns {Promise<number>} rejects with a TabacusRangeError after 2^53 − 1, and with `quota-exceeded`,
     *   `store-failed`, `unknown-commit` or `closed`
     */
    next() {
        return this._shared.next();
    }

    /**
     * So many numbers, one after another.
     *
     * @param {number} n from 1
     * @returns {Promise<{ first: number, last: number }>} the range, both ends in it; rejects as next()
     */
    async reserve(n) {
        return this._shared.reserve(checkAmount(n));
    }
}

/**
 * So much, over all tabs of the origin and namespace, and never more. A tab holds some of it for itself and
 * mostly takes from that, without a transaction. Made by `tab.budget(name, { limit })`.
 *
 * @example
 * if (await tab.budget('downloads', { limit: 100 }).tryTake(1)) await fetch(url);
 */
export class Budget extends Handle {
    /**
     * @param {{ name: string }} object
     * @param {number} limit
     * @param {any} shared
     * @internal
     */
    constructor(object, limit, shared) {
        super(object, shared);
        this.limit = limit;
        shared.refresh().catch(() => {}); // reported by its calls
    }

    /**
     * Takes n, if there are as many.
     *
     * @param {number} [n] an integer from 1
     * @returns {Promise<boolean>} false: there are not; rejects with `quota-exceeded`, `store-failed` or
     *   `closed`
     */
    tryTake(n = 1) {
        return this._shared.tryTake(n);
    }

    /**
     * Puts back n that were taken.
     *
     * @param {number} [n] an integer from 1
     * @returns {Promise<void>} resolves when they can be taken again; rejects with a TabacusRangeError when
     *   fewer are taken, and as tryTake(); with `unknown-commit` when the outcome is unknown
     */
    async give(n = 1) {
        return this._shared.give(checkAmount(n));
    }

    /**
     * How many there are, as far as is known without waiting: what this tab holds, and what was free when
     * the store was last read or another tab reported it. Before the store was first read: the limit.
     *
     * @returns {number}
     */
    get available() {
        return this._shared.available ?? this.limit;
    }
}

/**
 * At most `limit` in any span of `interval` milliseconds, over all tabs of the origin and namespace. Made by
 * `tab.rateLimit(name, { limit, interval })`.
 *
 * @example
 * await tab.rateLimit('api', { limit: 5, interval: 1000 }).take();
 */
export class RateLimit extends Handle {
    /**
     * Waits until the limit allows another call; the calls of one tab are served in their order.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] either ends the wait: with the signal's
     *   reason, or with a `TimeoutError` after so many milliseconds. 0: unless the limit allows it now
     * @returns {Promise<void>} rejects with `quota-exceeded`, `store-failed` or `closed`
     */
    async take(options = {}) {
        const { signal, timeout } = checkOptions(options, ['signal', 'timeout']);
        const [ends, limit] = [checkSignal(signal), checkTimeout(timeout)];
        return this._shared.take(ends, limit);
    }

    /**
     * Takes a turn if the limit allows one now.
     *
     * @returns {Promise<boolean>} rejects as take()
     */
    tryTake() {
        return this._shared.tryTake();
    }
}

/**
 * @typedef {object} SequenceOptions an agreement of all who use the sequence
 * @property {number} [block] how many numbers a tab reserves at once, from 1 to 10^9; 1000 by
 *   default. What it has not given out when it closes or dies is left out
 * @property {boolean} [gapless] a transaction for each number instead: none is left out
 */

/**
 * @typedef {object} BudgetOptions
 * @property {number} limit an integer from 0 to 2^53 − 1, an agreement of all who use the budget
 */

/**
 * @typedef {object} RateLimitOptions an agreement of all who use the rate limit
 * @property {number} limit an integer from 1 to 10^9
 * @property {number} interval milliseconds, an integer from 1 to 2^31 − 1
 */
