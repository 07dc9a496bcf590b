/** Sequences, budgets and rate limits of a tab. */

import { closedError, TabacusError } from '../common/errors.js';
import { Budget, checkAmount, RateLimit, refusing, Sequence } from './handles.js';
import {
    budgetAsk,
    budgetGive,
    budgetNew,
    budgetRefresh,
    limitsClose,
    limitsDurable,
    rateAbort,
    rateNew,
    rateTake,
    rateTry,
    sequenceNew,
    sequenceReserve,
} from '../core/generated/limits.js';

/** The functions that are called without waiting. @typedef {Pick<Glue, 'sequence_next' | 'budget_take' | 'budget_available'>} LimitsGlue */

/** @typedef {import('../core/program.js').Glue} Glue */
/** @typedef {import('../core/bridge.js').Bridge} Bridge */

/** @returns {never} */
const refuse = () => {
    throw closedError();
};

/** Replaces the exports of the program when the engine is closed. @type {LimitsGlue} */
const closed = { sequence_next: () => 0, budget_take: () => 0, budget_available: refuse };

const weaker = () =>
    new TabacusError(
        'weaker-guarantee',
        'without IndexedDB a limit holds within this page only: open({ allowWeaker: true }) allows that',
    );

/** The time within which a transaction nearly always ends. */
const answer_ms = 100;

/**
 * The result of each tryTake() that succeeds at once. They share one promise, because making a promise takes
 * longer than tryTake() itself.
 */
const taken = Promise.resolve(true);

/** The sequences, budgets and rate limits of an engine. */
export class Limits {
    #bridge;
    #closed = false;

    /** The shared objects, by their addresses in the program. @type {Map<number, { _glue: LimitsGlue }>} */
    #made = new Map();

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
    }

    /**
     * Makes a deferred object the sequence, budget or rate limit that it stands for.
     *
     * @param {{ name: string }} object
     * @param {string} kind
     * @param {any} options
     * @param {import('../tab/tab.js').Tab} tab
     */
    adopt(object, kind, options, tab) {
        tab._assertOpen();
        // The calls of the object refuse, after they have checked their arguments.
        const refused = !tab._allowWeaker && !limitsDurable(this.#bridge) && refusing(weaker);
        const { block, gapless, limit, interval } = options;
        const { name } = object;
        const { _clock: clock } = tab;
        if (kind === 'sequence')
            return new Sequence(object, clock, refused || this.#sequence(name, block, gapless));
        if (kind === 'budget') return new Budget(object, clock, limit, refused || this.#budget(name, limit));
        return new RateLimit(object, clock, refused || this.#rateLimit(name, limit, interval));
    }

    /**
     * Returns the shared object of a sequence.
     *
     * @param {string} name
     * @param {number} block
     * @param {boolean} gapless
     */
    #sequence(name, block, gapless) {
        const bridge = this.#admitting(`sequence/${name}`);
        const address = sequenceNew(bridge, name, block, gapless);
        return this.#keep(address, () => new Numbers(this, bridge, address));
    }

    /**
     * Returns the shared object of a budget.
     *
     * @param {string} name
     * @param {number} limit
     */
    #budget(name, limit) {
        const bridge = this.#admitting(`budget/${name}`);
        const address = budgetNew(bridge, name, limit);
        return this.#keep(address, () => new Rights(this, bridge, address));
    }

    /**
     * Returns the shared object of a rate limit.
     *
     * @param {string} name
     * @param {number} limit
     * @param {number} interval
     */
    #rateLimit(name, limit, interval) {
        const bridge = this.#admitting(`rate/${name}`);
        const address = rateNew(bridge, name, limit, interval);
        return this.#keep(address, () => new Rate(this, bridge, address));
    }

    /** Gives back what this tab has reserved and not used. */
    async close() {
        if (this.#closed) return;
        this._fail();
        await limitsClose(this.#bridge);
    }

    /**
     * Refuses all later calls, without calling the program. Called by the engine when the program has failed.
     *
     * @internal
     */
    _fail() {
        this.#closed = true;
        for (const one of this.#made.values()) one._glue = closed;
    }

    /**
     * Makes a call of the program that is answered later.
     *
     * @template T
     * @param {(bridge: Bridge) => Promise<T>} call
     * @internal
     */
    async ask(call) {
        if (this.#closed) throw closedError();
        return call(this.#bridge);
    }

    /**
     * Implements RateLimit.take().
     *
     * @param {number} rate the address of the rate limit
     * @param {AbortSignal | undefined} signal
     * @param {number} [timeout] in milliseconds
     * @internal
     */
    async wait(rate, signal, timeout = Infinity) {
        signal?.throwIfAborted();
        if (timeout > 0 && (await this.#turn(rate, signal, timeout))) return;
        // Within such a short time the store may not have answered although the limit allows a turn. So this
        // asks once more.
        if (timeout < answer_ms && (await this.ask((bridge) => rateTry(bridge, rate)))) return;
        signal?.throwIfAborted();
        throw new DOMException('the rate limit was reached until the timeout', 'TimeoutError');
    }

    /**
     * Waits for a turn of a rate limit.
     *
     * @param {number} rate the address of the rate limit
     * @param {AbortSignal | undefined} signal
     * @param {number} timeout in milliseconds
     * @returns {Promise<boolean>} false if the timeout passed first
     */
    async #turn(rate, signal, timeout) {
        const request = this.#bridge.listeners.take();
        const abort = () => this.#closed || rateAbort(this.#bridge, request);
        signal?.addEventListener('abort', abort);
        try {
            const limit = timeout === Infinity ? undefined : timeout;
            await this.ask((bridge) => rateTake(bridge, rate, limit, request));
            return true;
        } catch (error) {
            const { code } = /** @type {{ code?: string }} */ (error); // a DOMException has no such code
            if (code === 'timed-out') return false;
            throw code === 'aborted' && signal?.aborted ? signal.reason : error;
        } finally {
            signal?.removeEventListener('abort', abort);
        }
    }

    /**
     * Returns the bridge, after a check that the program has memory for another name.
     *
     * @param {string} name
     * @throws {TabacusError} `out-of-memory`, `closed`
     */
    #admitting(name) {
        if (this.#closed) throw closedError();
        this.#bridge.admit(name);
        return this.#bridge;
    }

    /**
     * Returns the shared object of an address, and makes it if there is none.
     *
     * @template {{ _glue: LimitsGlue }} One
     * @param {number} address
     * @param {() => One} make
     * @returns {One}
     */
    #keep(address, make) {
        const one = this.#made.get(address) ?? make();
        this.#made.set(address, one);
        return /** @type {One} */ (one);
    }
}

/** A shared object: the JavaScript side of one object of the program. */
class Made {
    #limits;

    /**
     * @param {Limits} limits
     * @param {Bridge} bridge
     * @param {number} address
     */
    constructor(limits, bridge, address) {
        this.#limits = limits;
        /** @type {LimitsGlue} */
        this._glue = bridge.glue;
        /** @protected */
        this._address = address;
    }

    /**
     * Makes a call of the program that is answered later.
     *
     * @template T
     * @param {(bridge: Bridge, address: number) => Promise<T>} call
     * @protected
     */
    _ask(call) {
        return this.#limits.ask((bridge) => call(bridge, this._address));
    }

    /**
     * Waits for a turn of a rate limit.
     *
     * @param {AbortSignal | undefined} signal
     * @param {number | undefined} timeout in milliseconds
     * @protected
     */
    _wait(signal, timeout) {
        return this.#limits.wait(this._address, signal, timeout);
    }
}

/** The shared object of a Sequence. */
class Numbers extends Made {
    next() {
        const number = this._glue.sequence_next(this._address);
        return number ? Promise.resolve(number) : this.#reserve(1);
    }

    /** @param {number} count */
    async reserve(count) {
        const first = await this.#reserve(count);
        return { first, last: first + count - 1 };
    }

    /** Reserves consecutive numbers, and resolves with the first. @param {number} count */
    #reserve(count) {
        return this._ask((bridge, address) => sequenceReserve(bridge, address, count));
    }
}

/** The shared object of a Budget. */
class Rights extends Made {
    /** @param {number} n */
    tryTake(n) {
        if (Number.isSafeInteger(n) && n > 0 && this._glue.budget_take(this._address, n)) return taken;
        return this.#ask(n);
    }

    /** @param {unknown} n */
    async #ask(n) {
        const amount = checkAmount(n);
        return this._ask((bridge, address) => budgetAsk(bridge, address, amount));
    }

    /** @param {number} n */
    async give(n) {
        await this._ask((bridge, address) => budgetGive(bridge, address, n));
    }

    get available() {
        return this._glue.budget_available(this._address);
    }

    refresh() {
        return this._ask(budgetRefresh);
    }
}

/** The shared object of a RateLimit. */
class Rate extends Made {
    /**
     * @param {AbortSignal | undefined} signal
     * @param {number | undefined} timeout
     */
    async take(signal, timeout) {
        await this._wait(signal, timeout);
    }

    async tryTake() {
        return this._ask(rateTry);
    }
}
