/**
 * The objects that tab.sequence(), tab.budget() and tab.rateLimit() return. Each belongs to one handle of an
 * engine, and passes its calls on to an object that all handles of the engine share (js/limits/limits.js).
 */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { Successor } from '../common/successor.js';
import { within } from '../common/wait-end.js';
import { closedError } from '../common/errors.js';

/** Checks an amount: an integer from 1 to 2^53 − 1. @param {unknown} n */
export const checkAmount = (n) => checkInteger('n', n, 1, Number.MAX_SAFE_INTEGER);

/**
 * Makes a replacement for a shared object, which refuses every call with an error.
 *
 * @param {() => Error} error
 */
export function refusing(error) {
    const refuse = () => Promise.reject(error());
    const tryTake = async (/** @type {unknown} */ n = 1) => {
        checkAmount(n);
        throw error();
    };
    return { tryTake, next: refuse, reserve: refuse, give: refuse, take: refuse, refresh: refuse };
}

/** Replaces the shared object in a handle that is closed. */
const closed = Object.defineProperty(refusing(closedError), 'available', {
    get() {
        throw closedError();
    },
});

/** The part that sequences, budgets and rate limits have in common. */
class Handle extends Successor {
    /** The object that all handles of the engine share. @type {any} @protected */
    _shared;

    #clock;

    /**
     * @param {{ name: string }} object
     * @param {import('../host/clock.js').ClockHost} clock
     * @param {unknown} shared
     * @internal
     */
    constructor(object, clock, shared) {
        super(object);
        this.name = object.name;
        this.#clock = clock;
        this._shared = shared;
    }

    /**
     * Makes a call, and waits for it as long as the options allow.
     *
     * @template T
     * @param {unknown} options
     * @param {() => Promise<T>} begin
     * @param {(value: T) => unknown} [unwanted] gets a value that comes after the end of the wait
     * @protected
     */
    _within(options, begin, unwanted) {
        return within(this.#clock, options, begin, unwanted);
    }

    /** @override @internal */
    _end() {
        this._shared = closed;
    }
}

/**
 * A sequence: numbers, from 1, for use as identifiers. Each number is given once over all tabs of the origin
 * and namespace, also after a crash or a restart, and the numbers that one tab gets rise. `tab.sequence(name,
 * options)` returns it. docs/limits.md states the guarantees.
 *
 * @example
 * const id = await tab.sequence('orders').next();
 */
export class Sequence extends Handle {
    /**
     * Takes the next number. It is larger than every number that this tab took before, and no other caller
     * gets it.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait: with the signal's reason, or with a
     *   `TimeoutError` after `timeout` milliseconds. The number that the call would have taken may then be left out
     * @returns {Promise<number>} an integer from 1 to 2^53 − 1. Rejects with a TabacusRangeError when all
     *   numbers are used, and with `quota-exceeded`, `store-failed`, `unknown-commit` or `closed`
     */
    next(options) {
        if (options) return this._within(options, () => this._shared.next());
        return this._shared.next();
    }

    /**
     * Takes `n` consecutive numbers.
     *
     * @param {number} n an integer from 1 to 2^53 − 1
     * @param {import('../common/wait-end.js').WaitOptions} [options] as those of next()
     * @returns {Promise<{ first: number, last: number }>} the range, including both ends. Rejects with
     *   `invalid-argument`, and as next() does
     */
    async reserve(n, options) {
        checkAmount(n);
        return this._within(options, () => this._shared.reserve(n));
    }
}

/**
 * A budget: an amount of `limit` that all tabs of the origin and namespace take from, and never exceed
 * together. A tab keeps a part of the free amount for itself and mostly takes from that part, without a
 * transaction. `tab.budget(name, { limit })` returns it. docs/limits.md states the guarantees.
 *
 * @example
 * if (await tab.budget('downloads', { limit: 100 }).tryTake(1)) await fetch(url);
 */
export class Budget extends Handle {
    /**
     * @param {{ name: string }} object
     * @param {import('../host/clock.js').ClockHost} clock
     * @param {number} limit
     * @param {any} shared
     * @internal
     */
    constructor(object, clock, limit, shared) {
        super(object, clock, shared);
        this.limit = limit;
        shared.refresh().catch(() => {}); // reported by its calls
    }

    /**
     * Takes `n` if that much is free.
     *
     * @param {number} [n] an integer from 1 to 2^53 − 1; 1 by default
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait: with the signal's reason, or with a
     *   `TimeoutError` after `timeout` milliseconds. What is taken after that is given back
     * @returns {Promise<boolean>} false if less is free: nothing is taken then. Rejects with
     *   `invalid-argument`, `quota-exceeded`, `store-failed` or `closed`
     */
    tryTake(n = 1, options) {
        if (options) {
            const giveBack = (/** @type {boolean} */ took) => took && this._shared.give(n).catch(() => {});
            return this._within(options, () => this._shared.tryTake(n), giveBack);
        }
        return this._shared.tryTake(n);
    }

    /**
     * Gives back `n` that were taken, by this tab or by another.
     *
     * @param {number} [n] an integer from 1 to 2^53 − 1; 1 by default
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait. The amount may be given back all the
     *   same
     * @returns {Promise<void>} resolves when the amount can be taken again. Rejects with a TabacusRangeError
     *   if less than `n` is taken, with `unknown-commit` if the outcome is unknown, and as tryTake() does
     */
    async give(n = 1, options) {
        checkAmount(n);
        return this._within(options, () => this._shared.give(n));
    }

    /**
     * The free amount, as far as this tab knows it without waiting: the part that this tab keeps for itself,
     * and what was free in the store when this tab last read it or another tab last reported it. Before the
     * first read it is the limit.
     *
     * @returns {number} an integer from 0 to `limit`
     */
    get available() {
        return this._shared.available ?? this.limit;
    }
}

/**
 * A rate limit: at most `limit` turns in any span of `interval` milliseconds, over all tabs of the origin and
 * namespace. `tab.rateLimit(name, { limit, interval })` returns it. docs/limits.md states the guarantees.
 *
 * @example
 * await tab.rateLimit('api', { limit: 5, interval: 1000 }).take();
 */
export class RateLimit extends Handle {
    /**
     * Waits until the limit allows another turn, and takes it. The calls of one tab are served in their
     * order.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] `signal` and `timeout`, in milliseconds
     *   from 0 to 2^31 − 1, end the wait. With a timeout of 0 a turn is taken only if the limit allows it at
     *   once
     * @returns {Promise<void>} rejects with the signal's reason, with a `TimeoutError`, or with
     *   `invalid-argument`, `quota-exceeded`, `store-failed` or `closed`
     */
    async take(options = {}) {
        const { signal, timeout } = checkOptions(options, ['signal', 'timeout']);
        const [ends, limit] = [checkSignal(signal), checkTimeout(timeout)];
        return this._shared.take(ends, limit);
    }

    /**
     * Takes a turn if the limit allows one at once.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait: with the signal's reason, or with a
     *   `TimeoutError` after `timeout` milliseconds. The turn may be taken all the same
     * @returns {Promise<boolean>} whether it took a turn. Rejects with `quota-exceeded`, `store-failed` or
     *   `closed`
     */
    async tryTake(options) {
        return this._within(options, () => this._shared.tryTake());
    }
}

/**
 * The options of a sequence. All tabs that use the sequence must pass the same.
 *
 * @typedef {object} SequenceOptions
 * @property {number} [block] how many numbers a tab reserves at once: an integer from 1 to 10^9; 1 000 by
 *   default. Numbers that a tab has reserved and not given out when it closes or dies are never given out
 * @property {boolean} [gapless] whether each number is taken in a transaction of its own instead, so that no
 *   number is left out; `false` by default
 */

/**
 * The options of a budget. All tabs that use the budget must pass the same.
 *
 * @typedef {object} BudgetOptions
 * @property {number} limit an integer from 0 to 2^53 − 1
 */

/**
 * The options of a rate limit. All tabs that use the rate limit must pass the same.
 *
 * @typedef {object} RateLimitOptions
 * @property {number} limit how many turns `interval` allows: an integer from 1 to 10^9
 * @property {number} interval in milliseconds: an integer from 1 to 2^31 − 1
 */
