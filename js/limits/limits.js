/** Sequences, budgets and rate limits of a tab. */

import { invalid, TabacusError } from '../common/errors.js';
import { checkAmount } from './handles.js';
import { stateFrom, textsFrom } from './transfer.js';

/** The module's functions. @typedef {any} LimitsGlue */

/** @returns {never} */
const refuse = () => {
    throw closedError();
};

const closedError = () => new TabacusError('closed', 'the tab is closed: open() another');

/** In place of the module when the tab is closed. @type {LimitsGlue} */
const closed = { _sequence_next: () => 0, _budget_take: () => 0, _budget_available: refuse };

/** What a transaction takes at most, mostly. */
const answer_ms = 100;

/** What tryTake() answers: one promise for all, since to make one takes longer than to take. */
const taken = Promise.resolve(true);

export class Limits {
    #bridge;
    #closed = false;

    /** @type {Set<{ _glue: LimitsGlue }>} */
    #made = new Set();

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
    }

    /**
     * For a tab that does not allow weaker ones.
     * @throws {TabacusError} `weaker-guarantee`
     */
    assertDurable() {
        if (this.#bridge.invoke('_limits_durable', [])) return;
        throw new TabacusError(
            'weaker-guarantee',
            'without IndexedDB a limit holds within this page only: open({ allowWeaker: true }) allows that',
        );
    }

    /**
     * @param {string} name
     * @param {number} block
     * @param {number} gapless 1, or 0
     */
    sequence(name, block, gapless) {
        return this.#keep(new Numbers(this, this.#glue, this.#make('_sequence_new', name, block, gapless)));
    }

    /**
     * @param {string} name
     * @param {number} limit
     */
    budget(name, limit) {
        return this.#keep(new Rights(this, this.#glue, this.#make('_budget_new', name, limit)));
    }

    /**
     * @param {string} name
     * @param {number} limit
     * @param {number} interval
     */
    rateLimit(name, limit, interval) {
        return this.#keep(new Rate(this, this.#glue, this.#make('_rate_new', name, limit, interval)));
    }

    /**
     * What is committed of a replicated counter.
     * @param {string} counter
     */
    async stateOf(counter) {
        if (this.#closed) throw closedError();
        const texts = await this.#bridge.promises.make((id) =>
            this.#bridge.invoke('_counter_state', [counter], id),
        );
        return stateFrom(texts ? texts.slice(0, -1) : []);
    }

    /**
     * @param {string} counter
     * @param {unknown} state
     */
    async merge(counter, state) {
        const texts = textsFrom(state);
        if (this.#closed) throw closedError();
        try {
            await this.#bridge.promises.make((id) =>
                this.#bridge.invoke('_counter_merge', [counter, ...texts], id),
            );
        } catch (error) {
            if (/** @type {TabacusError} */ (error).code !== 'invalid-argument') throw error;
            throw invalid(
                'state.rows',
                /** @type {any} */ (state).rows,
                'rows as counter.state() returns them',
            );
        }
    }

    /** Puts back what is held unspent. */
    async close() {
        if (this.#closed) return;
        this.#closed = true;
        for (const one of this.#made) one._glue = closed;
        await this.#bridge.promises.make((id) => this.#bridge.invoke('_limits_close', [], id));
    }

    /**
     * A call of the module that it answers later.
     *
     * @param {string} call
     * @param {number[]} numbers
     * @returns {Promise<any>}
     * @internal
     */
    async ask(call, ...numbers) {
        if (this.#closed) throw closedError();
        return this.#bridge.promises.make((id) => this.#bridge.invoke(call, [], ...numbers, id));
    }

    /**
     * @param {number} rate
     * @param {AbortSignal | undefined} signal
     * @param {number} [timeout]
     * @internal
     */
    async wait(rate, signal, timeout = Infinity) {
        signal?.throwIfAborted();
        if (timeout > 0 && (await this.#turn(rate, signal, timeout))) return;
        // Within so short a time the store may not have answered yet.
        if (timeout < answer_ms && (await this.ask('_rate_try', rate))) return;
        signal?.throwIfAborted();
        throw new DOMException('the rate limit was reached until the timeout', 'TimeoutError');
    }

    /**
     * @param {number} rate
     * @param {AbortSignal | undefined} signal
     * @param {number} timeout
     * @returns {Promise<boolean>} false: not in time
     */
    async #turn(rate, signal, timeout) {
        const request = this.#bridge.take();
        const abort = () => this.#bridge.invoke('_rate_abort', [], request);
        signal?.addEventListener('abort', abort);
        try {
            await this.ask('_rate_take', rate, timeout === Infinity ? -1 : timeout, request);
            return true;
        } catch (error) {
            const { code } = /** @type {{ code?: string }} */ (error); // the platform's errors have names instead
            if (code === 'timed-out') return false;
            throw code === 'aborted' && signal?.aborted ? signal.reason : error;
        } finally {
            signal?.removeEventListener('abort', abort);
        }
    }

    /** @returns {LimitsGlue} */
    get #glue() {
        return this.#bridge.glue;
    }

    /**
     * @param {string} call
     * @param {string} name
     * @param {number[]} numbers
     * @returns {number}
     */
    #make(call, name, ...numbers) {
        if (this.#closed) throw closedError();
        this.#bridge.admit(`${call}/${name}`);
        return this.#bridge.invoke(call, [name], ...numbers);
    }

    /**
     * @template {{ _glue: LimitsGlue }} One
     * @param {One} one
     */
    #keep(one) {
        this.#made.add(one);
        return one;
    }
}

/** One of the module's objects. */
class Made {
    #limits;

    /**
     * @param {Limits} limits
     * @param {LimitsGlue} glue
     * @param {number} address
     */
    constructor(limits, glue, address) {
        this.#limits = limits;
        this._glue = glue;
        /** @protected */
        this._address = address;
    }

    /**
     * @param {string} call
     * @param {number[]} numbers
     * @protected
     */
    _ask(call, ...numbers) {
        return this.#limits.ask(call, this._address, ...numbers);
    }

    /**
     * @param {AbortSignal | undefined} signal
     * @param {number | undefined} timeout
     * @protected
     */
    _wait(signal, timeout) {
        return this.#limits.wait(this._address, signal, timeout);
    }
}

/** Behind a Sequence. */
class Numbers extends Made {
    next() {
        const number = this._glue._sequence_next(this._address);
        return number ? Promise.resolve(number) : this._ask('_sequence_reserve', 1);
    }

    /** @param {number} count */
    async reserve(count) {
        const first = await this._ask('_sequence_reserve', count);
        return { first, last: first + count - 1 };
    }
}

/** Behind a Budget. */
class Rights extends Made {
    /** @param {number} n */
    tryTake(n) {
        if (Number.isSafeInteger(n) && n > 0 && this._glue._budget_take(this._address, n)) return taken;
        return this.#ask(n);
    }

    /** @param {unknown} n */
    async #ask(n) {
        return (await this._ask('_budget_ask', checkAmount(n))) > 0;
    }

    /** @param {number} n */
    async give(n) {
        await this._ask('_budget_give', n);
    }

    get available() {
        return this._glue._budget_available(this._address);
    }

    refresh() {
        return this._ask('_budget_refresh');
    }
}

/** Behind a RateLimit. */
class Rate extends Made {
    /**
     * @param {AbortSignal | undefined} signal
     * @param {number | undefined} timeout
     */
    async take(signal, timeout) {
        await this._wait(signal, timeout);
    }

    async tryTake() {
        return (await this._ask('_rate_try')) > 0;
    }
}
