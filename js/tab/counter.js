/**
 * A counter over tabs. One class for each way to add: the default strategy adds at once, all others
 * when their store has answered.
 */

import { tabCounter } from '../core/generated/counters.js';
import { Promises } from '../core/promises.js';
import { invalid, TabacusError, TabacusRangeError } from '../common/errors.js';
import { LatestValueIterator } from '../common/latest-value-iterator.js';
import { Lazy } from '../common/lazy.js';
import { checkFunction } from '../common/check-arguments.js';

/** @typedef {import('./guarantee.js').Guarantee} Guarantee */

/** @typedef {import('./tab.js').Tab} Tab */

/** @type {(n: unknown) => asserts n is number} */
const checkAmount = (n) => {
    if (!Number.isSafeInteger(n)) throw invalid('n', n, 'an integer within ±(2^53 − 1)');
};

/** @param {number} n */
const leaves = (n) =>
    new TabacusRangeError('the counter would leave ±(2^53 − 1); nothing was added', {
        argument: 'n',
        value: n,
        allowed: 'an amount that keeps the counter within ±(2^53 − 1)',
    });

/** @returns {never} */
const refuse = () => {
    throw new TabacusError('closed', 'the tab of this counter is closed: open() another');
};

/** Replaces the core when the tab is closed, so that no call pays for asking whether it is. */
const closed = /** @type {import('../core/program.js').Glue} */ (
    /** @type {unknown} */ ({
        count_increment: refuse,
        count_add: refuse,
        count_read: refuse,
        count_flush: refuse,
        count_value: refuse,
    })
);

/** Replaces the module until it is loaded: nothing is known yet, and nothing else is asked of it. */
const loading = /** @type {import('../core/program.js').Glue} */ (
    /** @type {unknown} */ ({ count_value: () => 0 })
);

/** What all strategies share. */
class TabCounter {
    /**
     * Not private (#): add() of the class below is the hot path.
     * @protected
     */
    _core;

    /**
     * Where the core has it.
     * @protected
     */
    _address;

    /** @type {import('../core/promises.js').Promises} @protected */
    _promises;

    /** @protected */
    _owner;

    /** Ends the calls of _changed(). @protected */
    _end = () => {};

    /** @type {Set<(value: number) => void>} */
    #subscribers = new Set();

    /** @type {Set<LatestValueIterator>} */
    #iterations = new Set();

    #name;
    #guarantee;

    /**
     * @param {string} name
     * @param {import('../core/program.js').Glue} core
     * @param {import('../core/promises.js').Promises} promises
     * @param {number} address
     * @param {Readonly<Guarantee>} guarantee
     * @param {Tab} owner
     */
    constructor(name, core, promises, address, guarantee, owner) {
        this.#name = name;
        this._core = core;
        this._promises = promises;
        this._address = address;
        this._owner = owner;
        this.#guarantee = guarantee;
    }

    /** What it was opened as. */
    get name() {
        return this.#name;
    }

    /**
     * What this counter promises here: when an increment can be lost, what a read may miss.
     *
     * @returns {Readonly<Guarantee>}
     */
    get guarantee() {
        return this.#guarantee;
    }

    /**
     * The best-known value, without waiting: what the store held when it was last read, what other tabs
     * have announced since, and all of this tab's own increments. Until the store was first read, which is
     * under way when the counter is made, that is the own increments only.
     *
     * @returns {number} an integer within ±(2^53 − 1)
     * @throws {TabacusRangeError} when the tabs' totals add up to more than that
     * @throws {TabacusError} `closed`
     */
    get value() {
        const value = this._core.count_value(this._address);
        if (!Number.isSafeInteger(value)) throw new TabacusRangeError('the counter is beyond ±(2^53 − 1)');
        return value;
    }

    /**
     * What the store holds, with this tab's own increments: every increment of any tab whose `flush`
     * resolved before the call is in it (but see `guarantee.accuracy`).
     *
     * @returns {Promise<number>} rejects with `store-failed` when the store cannot be read, `closed`
     *   when the tab is or gets closed, and a TabacusRangeError beyond ±(2^53 − 1)
     * @example
     * const total = await tab.counter('visits').read();
     */
    async read() {
        const value = await this._promises.make((id) => this._core.count_read(this._address, id));
        if (!Number.isSafeInteger(value)) throw new TabacusRangeError('the counter is beyond ±(2^53 − 1)');
        return value;
    }

    /**
     * Resolves when every increment that this tab made before the call is committed, as durably as
     * `guarantee.durability` promises.
     *
     * @returns {Promise<void>} rejects with `quota-exceeded`, `store-failed`, `fenced` or `unavailable` when
     *   the store refuses (the increments stay, and are tried again), with `unknown-commit` when a commit was
     *   cut off and its outcome is unknown (these increments are not tried again), and `closed`
     * @example
     * counter.add(1);
     * await counter.flush();  // from here on a crash cannot lose it
     */
    async flush() {
        await this._promises.make((id) => this._core.count_flush(this._address, id));
    }

    /**
     * Calls `subscriber` with the value: at once (before it returns), and after each change, at most once
     * a turn of the event loop. What it throws is reported as an `error` event of the window and disturbs nobody.
     *
     * @param {(value: number) => void} subscriber
     * @returns {() => void} ends it; may be called again
     * @example
     * const stop = counter.subscribe((value) => (output.textContent = String(value)));
     */
    subscribe(subscriber) {
        checkFunction('subscriber', subscriber);
        const value = this.value;
        /** @type {number | undefined} */
        let last;
        /** @param {number} latest */
        const call = (latest) => {
            if (latest === last) return;
            last = latest;
            subscriber(latest);
        };
        this.#subscribers.add(call);
        this.#call(call, value);
        return () => void this.#subscribers.delete(call);
    }

    /**
     * The current value, then the latest one after each change, until the tab is closed.
     *
     * @returns {AsyncIterableIterator<number>}
     * @example
     * for await (const value of counter) console.log(value);
     */
    [Symbol.asyncIterator]() {
        const iteration = new LatestValueIterator((latest) => {
            const stop = this.subscribe((value) => latest.set(value));
            this.#iterations.add(latest);
            return () => {
                stop();
                this.#iterations.delete(latest);
            };
        });
        return iteration;
    }

    /**
     * For the tab: nothing reaches the core from here on.
     * @internal
     */
    _close() {
        this._changed(); // what the end of this turn would have reported
        this._fail();
    }

    /**
     * For the tab: the core is not to be asked any more.
     * @internal
     */
    _fail() {
        this._core = closed;
        this._end();
        this.#subscribers.clear();
        for (const iteration of this.#iterations) iteration.end();
    }

    /**
     * The core has it, from here on.
     *
     * @param {import('../core/program.js').Glue} core
     * @param {import('../core/promises.js').Promises} promises
     * @param {number} address
     * @protected
     */
    _use(core, promises, address) {
        this._core = core;
        this._promises = promises;
        this._address = address;
        this._changed();
    }

    /**
     * For the tab: called from within the core, which is not to meet an exception of ours.
     * @internal
     */
    _changed() {
        if (this._core === closed) return;
        const value = this._core.count_value(this._address);
        if (!Number.isSafeInteger(value)) {
            const message = 'The records of a counter add up beyond ±(2^53 − 1).';
            this._owner._emit('warning', { code: 'out-of-range', message, subject: this.#name });
            return;
        }
        for (const subscriber of [...this.#subscribers]) {
            if (this.#subscribers.has(subscriber)) this.#call(subscriber, value);
        }
    }

    /**
     * @param {(value: number) => void} subscriber
     * @param {number} value
     */
    #call(subscriber, value) {
        try {
            subscriber(value);
        } catch (error) {
            this._owner._report(error);
        }
    }
}

/** The default: exact, never blocking, and never losing what was flushed. */
export class ReplicatedCounter extends TabCounter {
    /**
     * @param {string} name
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {'relaxed' | 'strict'} durability
     * @param {Readonly<Guarantee>} guarantee
     * @param {Tab} owner
     */
    constructor(name, bridge, durability, guarantee, owner) {
        const { address, end } = bridge.counter(
            JSON.stringify([name, durability]),
            () => tabCounter(bridge, name, durability),
            () => this._changed(),
        );
        super(name, bridge.glue, bridge.promises, address, guarantee, owner);
        this._end = end;
    }

    /**
     * Adds at once, without waiting for anything: the commit and the news to other tabs follow by
     * themselves. `flush()` resolves when it is committed.
     *
     * @param {number} [n] an integer within ±(2^53 − 1)
     * @returns {number} the value then known
     * @throws {TabacusRangeError} when the value would leave ±(2^53 − 1); nothing was added then
     * @throws {TabacusError} `invalid-argument` when n is no such integer, `closed`
     * @example
     * const likes = tab.counter('likes').add();
     */
    add(n = 1) {
        checkAmount(n);
        const value = this._core.count_increment(this._address, n);
        if (value !== value) throw leaves(n);
        return value;
    }

    /**
     * What is committed of this counter, by tabs here and by devices that were merged, with all that this
     * tab has added: for the application's own server, and from there for merge() on other devices. It may be
     * written as JSON, and any part of its rows is a state, too.
     *
     * @returns {Promise<import('../limits/transfer.js').CounterState>} rejects as `flush` does, and with
     *   `unavailable` or `weaker-guarantee` where there is no IndexedDB
     * @example
     * await fetch('/counters/visits', { method: 'POST', body: JSON.stringify(await visits.state()) });
     */
    async state() {
        await this.flush();
        return this._owner._ask('limits', 'stateOf', this.name, this._owner._allowWeaker);
    }

    /**
     * Counts the rows of a state from here on, in all tabs: in any order, and any number of times. Resolves when
     * it is committed.
     *
     * @param {import('../limits/transfer.js').MergedState} state
     * @returns {Promise<void>} rejects, and nothing is merged, with `invalid-argument` when it is no state, and
     *   with a TabacusRangeError when the counter would leave ±(2^53 − 1); as state()
     */
    async merge(state) {
        await this.flush(); // what is not committed counts towards the limits, too
        await this._owner._ask('limits', 'merge', this.name, state, this._owner._allowWeaker);
        await this.read();
    }
}

/** Any other strategy: its module has to be loaded, and its store to answer, first. */
export class StoredCounter extends TabCounter {
    /** @type {Lazy<void>} */
    #attached;

    /** What was asked for and is not answered. @type {Set<Promise<unknown>>} */
    #open = new Set();

    #ended = false;

    /**
     * @param {string} name
     * @param {Readonly<Guarantee>} guarantee
     * @param {Tab} owner
     * @param {(counter: StoredCounter) => Promise<void>} load resolves when it is attached
     * @param {(begin: () => void) => void} whenLoaded calls `begin` when its module is loaded after all
     */
    constructor(name, guarantee, owner, load, whenLoaded) {
        super(name, loading, new Promises(), 0, guarantee, owner);
        this.#attached = new Lazy(() => load(this), whenLoaded);
        this.#attached.get().catch(() => {}); // every use of the counter reports it
    }

    /**
     * Adds, and resolves with the value then known.
     *
     * @param {number} [n] an integer within ±(2^53 − 1)
     * @returns {Promise<number>} rejects with a TabacusRangeError when the value would leave ±(2^53 − 1)
     *   (nothing was added then), `invalid-argument`, `closed`, `quota-exceeded` or `store-failed`, with
     *   `unknown-commit` when the connection died during the commit, and with `unavailable` when
     *   catalogue.wasm cannot be loaded
     * @example
     * const next = await tab.counter('orders', { strategy: 'transactional' }).add(1);
     */
    async add(n = 1) {
        checkAmount(n);
        return this.#run(() => this._promises.make((id) => this._core.count_add(this._address, n, id))).catch(
            (error) => {
                throw error.code === 'out-of-range' ? leaves(n) : error;
            },
        );
    }

    /** @override */
    async read() {
        return this.#run(() => super.read());
    }

    /** @override */
    async flush() {
        return this.#run(() => super.flush());
    }

    /**
     * Only totals of the default strategy travel to other devices.
     *
     * @returns {Promise<never>} rejects with `unavailable`
     */
    async state() {
        throw new TabacusError(
            'unavailable',
            `a counter of the strategy ${this.guarantee.strategy} has no state to merge: replicated ones do`,
        );
    }

    /**
     * @param {import('../limits/transfer.js').MergedState} _state
     * @returns {Promise<never>} as state()
     */
    async merge(_state) {
        return this.state();
    }

    /**
     * For the tab: takes nothing on from here on, and resolves when all that it has is done.
     * @internal
     */
    async _finish() {
        this.#ended = true;
        await Promise.allSettled(this.#open);
    }

    /**
     * @template Result
     * @param {() => Promise<Result>} start
     * @returns {Promise<Result>}
     */
    async #run(start) {
        if (this.#ended) refuse();
        const running = this.#attached.get().then(start);
        this.#open.add(running);
        try {
            return await running;
        } finally {
            this.#open.delete(running);
        }
    }

    /**
     * For the catalogue: the module has it, from here on.
     *
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {number} address
     * @param {() => void} end ends the calls of _changed()
     * @internal
     */
    _attach(bridge, address, end) {
        if (this._core !== loading) return end();
        this._end = end;
        this._use(bridge.glue, bridge.promises, address);
    }
}
