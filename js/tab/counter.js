/**
 * Counters over tabs. There are two classes, because add() differs: a ReplicatedCounter (the default
 * strategy) returns the new value at once, and a StoredCounter (every other strategy) returns a promise,
 * since its store has to answer first.
 */

import { tabCounter } from '../core/generated/counters.js';
import { Promises } from '../core/promises.js';
import { invalid, TabacusError, TabacusRangeError } from '../common/errors.js';
import { LatestValueIterator } from '../common/latest-value-iterator.js';
import { Lazy } from '../common/lazy.js';
import { checkFunction } from '../common/check-arguments.js';
import { waitWithin } from './deferred.js';

/** @typedef {import('./guarantee.js').Guarantee} Guarantee */

/** @typedef {import('./tab.js').Tab} Tab */

/** @type {(n: unknown) => asserts n is number} */
const checkAmount = (n) => {
    if (!Number.isSafeInteger(n)) throw invalid('n', n, 'an integer within ±(2^53 − 1)');
};

/** The error of an increment that would leave the exact integers. @param {number} n */
const leavesRange = (n) =>
    new TabacusRangeError('the counter would leave ±(2^53 − 1); nothing was added', {
        argument: 'n',
        value: n,
        allowed: 'an amount that keeps the counter within ±(2^53 − 1)',
    });

/** @returns {never} */
const refuse = () => {
    throw new TabacusError('closed', 'the tab of this counter is closed: open() another');
};

/** Replaces the core when the tab is closed. So the calls of an open counter need not check for that. */
const closed = /** @type {import('../core/program.js').Glue} */ (
    /** @type {unknown} */ ({
        count_increment: refuse,
        count_add: refuse,
        count_read: refuse,
        count_flush: refuse,
        count_value: refuse,
    })
);

/**
 * Replaces the core until catalogue.wasm is loaded. Only the value is read from it, which is 0 as long as
 * nothing is known.
 */
const loading = /** @type {import('../core/program.js').Glue} */ (
    /** @type {unknown} */ ({ count_value: () => 0 })
);

/** The part of a counter that all strategies share. */
class TabCounter {
    /**
     * The exports of the program. It is not a private field (#), because ReplicatedCounter.add() reads it,
     * and must be fast.
     * @protected
     */
    _core;

    /**
     * The address of the counter in the program's memory.
     * @protected
     */
    _address;

    /** @type {import('../core/promises.js').Promises} @protected */
    _promises;

    /** The tab of this counter. @protected */
    _owner;

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

    /** The name that was passed to tab.counter(). */
    get name() {
        return this.#name;
    }

    /**
     * What this counter promises in this browser, as data: when an increment can be lost, what a read may
     * miss.
     *
     * @returns {Readonly<Guarantee>}
     */
    get guarantee() {
        return this.#guarantee;
    }

    /**
     * The best-known value, without waiting. It is the sum of what the store held when this tab last read it,
     * of what other tabs have announced since then, and of all of this tab's own increments. The first read
     * of the store begins when the counter is made; until it ends, the value consists of this tab's own
     * increments only.
     *
     * A tab receives the announcements for a counter from its first `value`, `subscribe()` or `read()` on, so
     * that a tab that only adds need not work through them. If that first use comes in a later turn than the
     * one in which the counter was made, it begins another read of the store: the value is current when that ends.
     *
     * @returns {number} an integer within ±(2^53 − 1)
     * @throws {TabacusRangeError} if the sum is beyond ±(2^53 − 1)
     * @throws {TabacusError} `closed`
     */
    get value() {
        const value = this._core.count_value(this._address);
        if (!Number.isSafeInteger(value)) throw new TabacusRangeError('the counter is beyond ±(2^53 − 1)');
        return value;
    }

    /**
     * Reads the store, and resolves with what it holds together with this tab's own increments. If an
     * increment of any tab was flushed before the call, that is, if its `flush()` had resolved, then the
     * result contains it. `guarantee.accuracy` states the exceptions.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait: with the signal's reason, or with a
     *   `TimeoutError` after `timeout` milliseconds
     * @returns {Promise<number>} an integer within ±(2^53 − 1). Rejects with `store-failed` if the store
     *   cannot be read, with `closed` if the tab is closed before or during the call, and with a
     *   TabacusRangeError if the value is beyond ±(2^53 − 1)
     * @example
     * const total = await tab.counter('visits').read();
     */
    async read(options) {
        const reading = this._promises.make((id) => this._core.count_read(this._address, id));
        const value = await waitWithin(this._owner, options, reading);
        if (!Number.isSafeInteger(value)) throw new TabacusRangeError('the counter is beyond ±(2^53 − 1)');
        return value;
    }

    /**
     * Resolves when every increment that this tab made before the call is committed, as durably as
     * `guarantee.durability` promises.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait, as those of read(). The tab goes on
     *   with the commit
     * @returns {Promise<void>} rejects with `quota-exceeded`, `store-failed`, `fenced` or `unavailable` if
     *   the store refuses the commit: the tab keeps these increments and tries to commit them again. Rejects
     *   with `unknown-commit` if a commit was cut off and its outcome is unknown: these increments are not
     *   tried again. Rejects with `closed` if the tab is closed
     * @example
     * counter.add(1);
     * await counter.flush();  // from here on a crash cannot lose it
     */
    async flush(options) {
        const flushing = this._promises.make((id) => this._core.count_flush(this._address, id));
        await waitWithin(this._owner, options, flushing);
    }

    /**
     * Calls `subscriber` with the value at once, before subscribe() returns, and then after each change, at
     * most once in a turn of the event loop. An exception of `subscriber` is reported as an `error` event of
     * the window, and affects no other subscriber.
     *
     * @param {(value: number) => void} subscriber
     * @returns {() => void} ends the subscription; calling it again does nothing
     * @throws {TabacusError} `invalid-argument` if `subscriber` is no function, `closed`
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
        this._owner._kept.add(this);
        this.#call(call, value);
        return () => {
            this.#subscribers.delete(call);
            if (this.#subscribers.size === 0) this._owner._kept.delete(this);
        };
    }

    /**
     * Iterates over the current value, and then over the latest value after each change, until the tab is
     * closed. A loop that is slower than the changes skips values in between, but never the last one.
     *
     * @returns {AsyncIterableIterator<number>}
     * @throws {TabacusError} `closed`
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
     * Disconnects the counter from the core, after a last call of its subscribers. Called by the tab when it
     * closes.
     * @internal
     */
    _close() {
        // The core would report this change only at the end of this turn.
        if (this.#subscribers.size > 0) this._changed();
        this._fail();
    }

    /**
     * Disconnects the counter from the core without reading a value from it. Called by the tab when the
     * program has failed.
     * @internal
     */
    _fail() {
        this._core = closed;
        this.#subscribers.clear();
        this._owner._kept.delete(this);
        for (const iteration of this.#iterations) iteration.end();
    }

    /**
     * Connects the counter to its core, once that is loaded.
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
     * Calls the subscribers with the value. The core calls this at the end of a turn in which the value
     * changed. It never throws, because an exception must not pass through the core.
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
     * Calls a subscriber, and reports what it throws.
     *
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

/**
 * A counter of the default strategy. It is exact, add() never blocks, and flushed increments survive a crash
 * of the tab. `guarantee.losses` lists the faults that may lose some.
 */
export class ReplicatedCounter extends TabCounter {
    /**
     * @param {string} name
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {'relaxed' | 'strict'} durability
     * @param {Readonly<Guarantee>} guarantee
     * @param {Tab} owner
     */
    constructor(name, bridge, durability, guarantee, owner) {
        super(name, bridge.glue, bridge.promises, 0, guarantee, owner);
        this._address = bridge.counter(
            JSON.stringify([name, durability]),
            () => tabCounter(bridge, name, durability),
            this,
        );
    }

    /**
     * Adds `n` at once, without waiting for anything. The tab commits the increment and announces it to other
     * tabs by itself; `flush()` resolves when it is committed.
     *
     * @param {number} [n] an integer within ±(2^53 − 1); 1 by default
     * @returns {number} the best-known value after it. In a tab that has not used `value`, `subscribe()` or
     *   `read()` of this counter, it lacks what other tabs have added since the counter was made
     * @throws {TabacusRangeError} if the value would leave ±(2^53 − 1); nothing is added then
     * @throws {TabacusError} `invalid-argument` if `n` is no such integer, `closed`
     * @example
     * const likes = tab.counter('likes').add();
     */
    add(n = 1) {
        checkAmount(n);
        const value = this._core.count_increment(this._address, n);
        if (value !== value) throw leavesRange(n);
        return value;
    }

    /**
     * Flushes this tab's increments, and resolves with all committed rows of this counter: those of the tabs
     * of this browser, and those of other devices that were merged. The application sends the state to its
     * own server, and from there to merge() on other devices. A state can be written as JSON, and any subset
     * of its rows is a state, too.
     *
     * @returns {Promise<import('../limits/transfer.js').CounterState>} rejects as `flush()` does, and with
     *   `unavailable` or `weaker-guarantee` where there is no IndexedDB
     * @example
     * await fetch('/counters/visits', { method: 'POST', body: JSON.stringify(await visits.state()) });
     */
    async state() {
        await this.flush();
        return this._owner._ask('transfers', 'stateOf', this.name, this._owner._allowWeaker);
    }

    /**
     * Merges the rows of a state into this counter, for all tabs, and resolves when they are committed.
     * States may be merged in any order, and a state that is merged several times counts once.
     *
     * @param {import('../limits/transfer.js').MergedState} state
     * @returns {Promise<void>} rejects with `invalid-argument` if `state` is no state, with a
     *   TabacusRangeError if the counter would leave ±(2^53 − 1), and as state() does; nothing is merged then
     */
    async merge(state) {
        await this.flush(); // increments that are not committed count towards ±(2^53 − 1), too
        await this._owner._ask('transfers', 'merge', this.name, state, this._owner._allowWeaker);
        await this.read();
    }
}

/**
 * A counter of any other strategy. Each call waits until catalogue.wasm is loaded and the store has answered.
 */
export class StoredCounter extends TabCounter {
    /** @type {Lazy<void>} */
    #attached;

    /** The calls that are not settled. @type {Set<Promise<unknown>>} */
    #open = new Set();

    #ended = false;

    /**
     * @param {string} name
     * @param {Readonly<Guarantee>} guarantee
     * @param {Tab} owner
     * @param {(counter: StoredCounter) => Promise<void>} load resolves when the counter is attached to the
     *   core
     * @param {(begin: () => void) => void} whenLoaded calls `begin` if its module is loaded after a failure
     */
    constructor(name, guarantee, owner, load, whenLoaded) {
        super(name, loading, new Promises(), 0, guarantee, owner);
        this.#attached = new Lazy(() => load(this), whenLoaded);
        this.#attached.get().catch(() => {}); // every use of the counter reports it
    }

    /**
     * Adds `n`, and resolves with the best-known value after it.
     *
     * @param {number} [n] an integer within ±(2^53 − 1); 1 by default
     * @returns {Promise<number>} rejects with a TabacusRangeError if the value would leave ±(2^53 − 1)
     *   (nothing is added then), with `invalid-argument`, `closed`, `quota-exceeded` or `store-failed`, with
     *   `unknown-commit` if the connection to the database died during the commit, and with `unavailable` if
     *   catalogue.wasm cannot be loaded
     * @example
     * const next = await tab.counter('orders', { strategy: 'transactional' }).add(1);
     */
    async add(n = 1) {
        checkAmount(n);
        return this.#run(() => this._promises.make((id) => this._core.count_add(this._address, n, id))).catch(
            (error) => {
                throw error.code === 'out-of-range' ? leavesRange(n) : error;
            },
        );
    }

    /** @param {import('../common/wait-end.js').WaitOptions} [options] @override */
    async read(options) {
        const reading = this.#run(() => super.read());
        return waitWithin(this._owner, options, reading);
    }

    /** @param {import('../common/wait-end.js').WaitOptions} [options] @override */
    async flush(options) {
        const flushing = this.#run(() => super.flush());
        return waitWithin(this._owner, options, flushing);
    }

    /**
     * Rejects, because only a counter of the default strategy has a state that other devices can merge.
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
     * Rejects, as state() does.
     *
     * @param {import('../limits/transfer.js').MergedState} _state
     * @returns {Promise<never>} rejects with `unavailable`
     */
    async merge(_state) {
        return this.state();
    }

    /**
     * Refuses further calls, and resolves when all earlier calls are settled. Called by the tab when it
     * closes.
     * @internal
     */
    async _finish() {
        this.#ended = true;
        await Promise.allSettled(this.#open);
    }

    /**
     * Makes a call once the counter is attached.
     *
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
     * Connects the counter to its core. Called by the catalogue.
     *
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {number} address
     * @internal
     */
    _attach(bridge, address) {
        if (this._core === loading) this._use(bridge.glue, bridge.promises, address);
    }
}
