/**
 * What tab.sequence(), tab.budget() and tab.rateLimit() return at once: small objects that load limits.js with
 * their first call, and forward to it.
 */

import {
    checkBoolean,
    checkInteger,
    checkOptions,
    checkSignal,
    checkTimeout,
} from '../common/check-arguments.js';
import { closedError } from '../common/errors.js';

/** The longest that every engine's timers count. */
const intervalMsMax = 2 ** 31 - 1;

/** @param {unknown} n */
export const checkAmount = (n) => checkInteger('n', n, 1, Number.MAX_SAFE_INTEGER);

/** Loads the limits of the tab. @typedef {() => Promise<import('./limits.js').Limits>} Load */

/** In place of what the module has, when the tab is closed: what is used without loading it. */
const closed = {
    next: () => Promise.reject(closedError()),
    tryTake: () => Promise.reject(closedError()),
    get available() {
        throw closedError();
    },
};

class Handle {
    /** What the module has, once it is loaded. @type {any} @protected */
    _real;

    #load;
    #make;

    /**
     * @param {Load} load
     * @param {string} name
     * @param {'sequence' | 'budget' | 'rateLimit'} kind
     * @param {number[]} numbers what it is made with
     * @param {(limits: import('./limits.js').Limits) => unknown} make
     */
    constructor(load, name, kind, numbers, make) {
        this.name = name;
        this.#load = load;
        this.#make = make;
        /** @internal */
        this._kind = kind;
        /** @internal */
        this._numbers = numbers;
    }

    /**
     * For the tab: it is the one of its name.
     * @internal
     */
    async _begin() {}

    /**
     * For the tab: nothing is given out from here on.
     * @internal
     */
    _close() {
        this._real = closed;
    }

    /**
     * @param {(real: any) => unknown} call of what the module has
     * @returns {Promise<any>}
     * @protected
     */
    async _later(call) {
        const limits = await this.#load();
        if (this._real === closed) throw closedError();
        this._real ??= this.#make(limits);
        return call(this._real);
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
     * @param {string} name
     * @param {SequenceOptions} options
     * @param {Load} load
     * @internal
     */
    constructor(name, options, load) {
        const given = checkOptions(options, ['block', 'gapless']);
        const block = checkInteger('block', given.block === undefined ? 1000 : given.block, 1, 1e9);
        const gapless = checkBoolean('gapless', given.gapless === undefined ? false : given.gapless);
        super(load, name, 'sequence', [block, Number(gapless)], (limits) =>
            limits.sequence(name, block, gapless),
        );
    }

    /**
     * The next number: larger than every one that this tab got before, and never given to anybody else.
     *
     * @returns {Promise<number>} rejects with a TabacusRangeError after 2^53 − 1, and with `quota-exceeded`,
     *   `store-failed`, `unknown-commit` or `closed`
     */
    next() {
        return this._real ? this._real.next() : this._later((real) => real.next());
    }

    /**
     * So many numbers, one after another.
     *
     * @param {number} n from 1
     * @returns {Promise<{ first: number, last: number }>} the range, both ends in it; rejects as next()
     */
    async reserve(n) {
        const count = checkAmount(n);
        return this._later((real) => real.reserve(count));
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
     * @param {string} name
     * @param {BudgetOptions} options
     * @param {Load} load
     * @internal
     */
    constructor(name, options, load) {
        const limit = checkInteger(
            'limit',
            checkOptions(options, ['limit']).limit,
            0,
            Number.MAX_SAFE_INTEGER,
        );
        super(load, name, 'budget', [limit], (limits) => limits.budget(name, limit));
        this.limit = limit;
    }

    /** @override @internal */
    async _begin() {
        await this._later((real) => real.refresh());
    }

    /**
     * Takes n, if there are as many.
     *
     * @param {number} [n] an integer from 1
     * @returns {Promise<boolean>} false: there are not; rejects with `quota-exceeded`, `store-failed` or
     *   `closed`
     */
    tryTake(n = 1) {
        return this._real ? this._real.tryTake(n) : this.#takeLater(n);
    }

    /** @param {number} n */
    async #takeLater(n) {
        const amount = checkAmount(n);
        return this._later((real) => real.tryTake(amount));
    }

    /**
     * Puts back n that were taken.
     *
     * @param {number} [n] an integer from 1
     * @returns {Promise<void>} resolves when they can be taken again; rejects with a TabacusRangeError when
     *   fewer are taken, and as tryTake(); with `unknown-commit` when the outcome is unknown
     */
    async give(n = 1) {
        const amount = checkAmount(n);
        return this._later((real) => real.give(amount));
    }

    /**
     * How many there are, as far as is known without waiting: what this tab holds, and what was free when
     * the store was last read or another tab reported it. Before the store was first read: the limit.
     *
     * @returns {number}
     */
    get available() {
        return this._real ? this._real.available : this.limit;
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
     * @param {string} name
     * @param {RateLimitOptions} options
     * @param {Load} load
     * @internal
     */
    constructor(name, options, load) {
        const given = checkOptions(options, ['limit', 'interval']);
        const limit = checkInteger('limit', given.limit, 1, 1e9);
        const interval = checkInteger('interval', given.interval, 1, intervalMsMax);
        super(load, name, 'rateLimit', [limit, interval], (limits) =>
            limits.rateLimit(name, limit, interval),
        );
    }

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
        return this._later((real) => real.take(ends, limit));
    }

    /**
     * Takes a turn if the limit allows one now.
     *
     * @returns {Promise<boolean>} rejects as take()
     */
    tryTake() {
        return this._later((real) => real.tryTake());
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
