/// <reference lib="esnext.disposable" preserve="true" />
import { tabCapabilities } from '../core/generated/counters.js';
import { closedError, TabacusError } from '../common/errors.js';
import { reportTo } from '../host/failure.js';
import { Serial } from '../lock/serial.js';
import { checkName } from '../common/check-arguments.js';
import { Lazy } from '../common/lazy.js';
import { ReplicatedCounter, StoredCounter } from './counter.js';
import { TabEventTarget } from './tab-event-target.js';
import { ask, checkAgreement, kinds } from './deferred.js';
import { modules } from './engine.js';
import { capabilitiesOf } from './capabilities.js';
import { flushAll, TabCounters } from './tab-counters.js';

/** @typedef {import('./capabilities.js').Capabilities} Capabilities */
/** @typedef {ReplicatedCounter | StoredCounter} Counter */
/** @typedef {import('../limits/handles.js').Budget} Budget */
/** @typedef {import('../limits/handles.js').RateLimit} RateLimit */
/** @typedef {import('../limits/handles.js').Sequence} Sequence */
/** @typedef {import('../lock/leader.js').Leader} Leader */
/** @typedef {import('../lock/lock.js').Lock} Lock */
/** @typedef {import('../lock/semaphore.js').Semaphore} Semaphore */
/** @typedef {import('../queue/queue.js').Queue} Queue */

/**
 * @template Strategy
 * @typedef {Strategy extends undefined | 'replicated' ? ReplicatedCounter : StoredCounter} CounterBy
 */

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/**
 * Stands for options that are not given: tab.queue() without options returns the queue with those of its
 * first user.
 */
const anyOptions = {};

/** One namespace in one context. `open()` returns it. */
export class Tab extends TabEventTarget {
    #engine;
    /** @internal */
    _allowWeaker;
    #leave;
    #found;

    /** The capabilities; undefined before their first use. @type {Readonly<Capabilities> | undefined} */
    #capabilities;

    #counters;

    /** @type {Promise<void> | undefined} */
    #closing;

    /**
     * The parts that make deferred objects (js/tab/deferred.js) instances of their classes. The locks belong
     * to this handle alone, because it may close before other handles of the engine.
     *
     * @type {Record<import('./deferred.js').PartName, Lazy<any>>}
     */
    #parts;

    /** The deferred objects, by kind and name. @type {Map<string, any>} */
    #handles = new Map();

    /**
     * @param {import('./engine.js').Engine} engine
     * @param {boolean} allowWeaker
     * @param {() => boolean} leave called when the tab is closed; returns whether no other handle of the
     *   engine is open
     * @internal
     */
    constructor(engine, allowWeaker, leave) {
        super();
        this.#engine = engine;
        this._allowWeaker = allowWeaker;
        this.#leave = leave;
        this._kept = engine.bridge.kept;
        this._clock = engine.host.clock;
        this.#found = tabCapabilities(engine.bridge);
        this.#counters = new TabCounters(
            engine,
            this,
            /** @type {Capabilities['store']} */ (this.#found.store),
        );
        /** @type {Lazy<import('../lock/tab-locks.js').TabLocks>} */
        const locks = new Lazy(
            () => engine.loadPart('locks', modules.locks(), ({ TabLocks }) => new TabLocks(engine, this)),
            (again) => engine.retries.add(again),
        );
        const leader = new Lazy(async () => (await Promise.all([locks.get(), engine.load('leader')]))[0]);
        const { queues, limits, transfers } = engine;
        this.#parts = { locks, leader, queues, limits, transfers };
        engine.join(this);
    }

    /**
     * What tabacus can use in this context: where counters are kept, how durable they can be, how tabs
     * exclude each other.
     *
     * @returns {Readonly<Capabilities>}
     */
    get capabilities() {
        this.#capabilities ??= capabilitiesOf(this.#found, this.#engine.host);
        return this.#capabilities;
    }

    /**
     * Returns the counter of that name and strategy, which all tabs of the origin and namespace share. The
     * same arguments give the same object. A strategy other than the default is loaded by the first call that
     * names one, and the calls of its counter wait until it is loaded.
     *
     * @template {import('./tab-options.js').CounterOptions} [Options={}]
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {Options} [options]
     * @returns {'strategy' extends keyof Options ? CounterBy<Options['strategy']> : ReplicatedCounter}
     * @throws {TabacusError} `invalid-argument`; `closed`; `unavailable` if the platform lacks what the
     *   strategy needs; `weaker-guarantee` if the counter cannot be as durable as `options.durability`
     * @example
     * const clicks = tab.counter('clicks');
     * clicks.add(1);
     */
    counter(name, options = /** @type {Options} */ ({})) {
        return /** @type {any} */ (this.#counters._counter(name, options));
    }

    /**
     * Returns the lock of that name. Its holder excludes all other tabs of the origin and namespace, and all
     * other callers in this tab.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {Lock}
     * @throws {TabacusError} `invalid-argument`
     * @example
     * const answer = await tab.lock('refresh').run(async (held) => fetch('/refresh', { signal: held.signal }));
     */
    lock(name) {
        return this.#deferred('lock', checkName(name));
    }

    /**
     * Returns the semaphore of that name, which lets at most `permits` callers run at once, over all tabs of
     * the origin and namespace.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {number} permits an integer from 1 to 64; all tabs must pass the same number. It is small
     *   because each waiting request queues for every permit
     * @returns {Semaphore} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch` if this tab has the semaphore with another
     *   number
     */
    semaphore(name, permits) {
        return this.#handle('semaphore', name, { permits });
    }

    /**
     * Returns the leadership of that name, which one tab of the origin and namespace has at a time. It is the
     * lock `leader/<name>`, and its terms are numbered in rising order.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {Leader} the same object for the same name
     * @throws {TabacusError} `invalid-argument`
     * @example
     * await tab.leader('sync').run(async ({ number, signal }) => poll({ term: number, signal }));
     */
    leader(name) {
        return this.#handle('leader', name, anyOptions);
    }

    /**
     * Returns a value that is shown at once while its mutations run one after another, over all tabs, under
     * the lock `serial/<name>` (optimistic updates).
     *
     * @template T
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {T} initial what is shown before the first mutation
     * @returns {Serial<T>} a new object for each call
     * @throws {TabacusError} `invalid-argument`
     */
    serial(name, initial) {
        const lock = this.#deferred('lock', `serial/${checkName(name)}`);
        return new Serial(name, initial, lock, this);
    }

    /**
     * Returns the queue of that name, which all tabs of the origin and namespace share.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../queue/queue-options.js').QueueOptions} [options] all tabs must pass the same.
     *   Without options the call returns the queue with the options of an earlier call
     * @returns {Queue} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `closed`; `kind-mismatch` if this tab has the queue with
     *   other options
     * @example
     * const pages = tab.queue('pages', { order: 'lifo', onFailure: 'pause' });
     * pages.handle(async ({ payload, signal }) => download(payload, signal));
     * const { result } = await pages.enqueue('/book/1', { key: '/book/1' });
     */
    queue(name, options = anyOptions) {
        this._assertOpen();
        return this.#handle('queue', name, options);
    }

    /**
     * Single flight over all tabs: of concurrent callers with one key, one runs `make`, and all callers get a
     * clone of its value, or of the error that it throws. If the tab that runs `make` dies, another caller
     * runs its own.
     *
     * @template T
     * @param {string} key a well-formed string of 1 to 128 UTF-16 units
     * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make returns a value that can
     *   be cloned. `signal` aborts when another caller may run in its place; `token` is the fencing token of
     *   this run
     * @param {import('../lock/lock-options.js').OnceOptions} [options]
     * @returns {Promise<T>} rejects with what `make` throws; with the reason of `signal`, or a
     *   `TimeoutError`; with an `AbortError` if the key is forgotten; and with `invalid-argument`, `closed`,
     *   `unavailable` without IndexedDB or BroadcastChannel, or an error of the store
     * @example
     * const token = await tab.once('token', async ({ signal }) => (await fetch('/refresh', { signal })).json());
     */
    once(key, make, options) {
        return this._ask('leader', 'once', key, make, options, this.#engine.host.clock.now());
    }

    /**
     * Removes what once() keeps under a key, in all tabs. Ends a run in progress: its `signal` aborts, and all
     * callers that wait for it get an `AbortError`.
     *
     * @param {string} key a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait; the key may still be forgotten
     * @returns {Promise<void>} resolves once no tab returns an earlier value to a call that begins later.
     *   Rejects with `invalid-argument`, `closed`, `unavailable` without IndexedDB, an error of the store, or a
     *   `TimeoutError` if the lock of the key cannot be stolen within ten seconds
     */
    forget(key, options) {
        return this._ask('leader', 'forget', key, options);
    }

    /**
     * Runs `use` under several locks, and releases them. The locks are acquired all or none, and always in
     * the same order, so that two calls of lockAll() never wait for each other in a cycle.
     *
     * @template T
     * @overload
     * @param {string[]} names one or more names, all different
     * @param {(held: import('../lock/held.js').Held[]) => T | Promise<T>} use gets the held locks in the
     *   order of `names`
     * @param {import('../lock/lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns. Rejects as Lock.run() does, and with `lock-lost` if a lock is
     *   lost before all are granted
     */
    /**
     * With `ifAvailable`, the call never waits: if not all locks are free, `use` gets null.
     *
     * @template T
     * @overload
     * @param {string[]} names one or more names, all different
     * @param {(held: import('../lock/held.js').Held[] | null) => T | Promise<T>} use
     * @param {import('../lock/lock-options.js').LockOptions} options
     * @returns {Promise<T>} what `use` returns
     */
    /**
     * @param {string[]} names
     * @param {(held: any) => any} use
     * @param {import('../lock/lock-options.js').LockOptions} [options]
     * @returns {Promise<any>}
     */
    lockAll(names, use, options) {
        return this._ask('locks', 'lockAll', names, use, options);
    }

    /**
     * Returns the sequence of that name. It gives each number once over all tabs of the origin and namespace,
     * and the numbers that one tab gets rise.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').SequenceOptions} [options] all tabs must pass the same
     * @returns {Sequence} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch` if this tab has the sequence with other
     *   options
     */
    sequence(name, options = {}) {
        return this.#handle('sequence', name, options);
    }

    /**
     * Returns the budget of that name: an amount of `limit` that all tabs of the origin and namespace take
     * from, and never exceed together.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').BudgetOptions} options all tabs must pass the same
     * @returns {Budget} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch` if this tab has the budget with another
     *   limit
     */
    budget(name, options) {
        return this.#handle('budget', name, options);
    }

    /**
     * Reads all replicated counters of the namespace whose names begin with `prefix`, also those that no tab has
     * open, in one transaction.
     *
     * @param {{ prefix?: string }} [options] `prefix`: a well-formed string of at most 128 UTF-16 units; empty by
     *   default, so that all are read
     * @returns {Promise<Map<string, number>>} the values by name: every flushed increment of all tabs, and all of
     *   this handle's own, which are flushed first. A value beyond ±(2^53 − 1) is rounded. Rejects as `flush()` of a
     *   counter does, with `invalid-argument`, and with `unavailable` or `weaker-guarantee` where there is no
     *   IndexedDB
     * @example
     * for (const [name, visits] of await tab.readCounters({ prefix: 'visits/' })) console.log(name, visits);
     */
    readCounters(options = {}) {
        const flush = () => flushAll([...this.#counters._all.values()]);
        return this._ask('transfers', 'valuesOf', flush, options, this._allowWeaker);
    }

    /**
     * Returns the rate limit of that name, which allows at most `limit` turns in any span of `interval`
     * milliseconds, over all tabs of the origin and namespace.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').RateLimitOptions} options all tabs must pass the same
     * @returns {RateLimit} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch` if this tab has the rate limit with other
     *   options
     */
    rateLimit(name, options) {
        return this.#handle('rateLimit', name, options);
    }

    /**
     * Returns the object of that kind and name, with options that agree with those of its first user.
     *
     * @param {keyof typeof kinds} kind
     * @param {string} name
     * @param {unknown} options
     * @returns {any}
     * @throws {TabacusError} `invalid-argument`, `kind-mismatch`
     */
    #handle(kind, name, options) {
        const asked = JSON.stringify(checkAgreement(options, kinds[kind][2]));
        const agreed = this.#engine.agreed(kind, checkName(name), asked);
        if (agreed !== asked && options !== anyOptions)
            throw new TabacusError(
                'kind-mismatch',
                `this tab has the ${kind} ${name} with ${agreed}, not ${asked}`,
            );
        const key = `${kind}/${name}`;
        const handle = this.#handles.get(key) ?? this.#deferred(kind, name, JSON.parse(agreed));
        this.#handles.set(key, handle);
        return handle;
    }

    /**
     * Makes an object of that kind, which is a deferred one while its class is not loaded.
     *
     * @param {keyof typeof kinds} kind
     * @param {string} name with a prefix it may be longer than the name that an application may choose
     * @param {Record<string, any>} [options]
     * @returns {any}
     */
    #deferred(kind, name, options = {}) {
        const [partName, Type] = kinds[kind];
        const part = this.#parts[partName];
        // Once the locks are loaded, a Lock is made without a deferred object, since an application may call
        // tab.lock() at each use. The objects of other kinds are made once for each name.
        if (part.value && kind === 'lock') return part.value.adopt({ name }, kind, options);
        return new Type(this, part, kind, name, options);
    }

    /**
     * Calls a method of the locks or of the transfer of counters, with its arguments as they are at this moment.
     *
     * @param {import('./deferred.js').PartName} part
     * @param {keyof import('../lock/tab-locks.js').TabLocks | keyof import('../limits/transfer.js').Transfer} method
     * @param {...unknown} args
     * @returns {Promise<any>}
     * @internal
     */
    _ask(part, method, ...args) {
        return ask(this, this.#parts[part], method, args);
    }

    /**
     * Acquires a lock of any name, also of one that tab.lock() refuses. Called by js/compat and js/threads.
     *
     * @param {string} name
     * @param {import('../lock/lock-options.js').LockOptions} options
     * @returns {Promise<import('../lock/held.js').Held | null>}
     * @internal
     */
    _acquire(name, options) {
        return this._ask('locks', 'acquireOne', name, options);
    }

    /**
     * Closes the tab: commits what is pending, releases its locks, and ends its iterations and the calls that
     * are not settled. The tab is closed even if this rejects.
     *
     * If another handle of the namespace is open in this context, only what belongs to this handle ends: its
     * counters are flushed, its locks are released, and its handlers and listeners are removed. A job that it
     * runs goes on, and so does its wait for a rate limit.
     *
     * @returns {Promise<void>} rejects as a counter's `flush()` does if the last commit fails, and with `store-failed`
     *   if the store has not answered within `timeouts.close`
     */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    /** Closes the tab at the end of the block of `await using tab = await open()`. */
    [asyncDispose]() {
        return this.close();
    }

    /**
     * Warns that a handler or a listener of `name` could not be registered.
     *
     * @param {any} error
     * @param {string} name
     * @param {boolean} [waits] whether it is registered as soon as a later attempt to load the module
     *   succeeds
     * @internal
     */
    _refused({ code = 'unavailable', message }, name, waits) {
        if (this.#closing) return;
        const more = waits ? `; what was registered with ${name} begins once that is no longer so` : '';
        this._emit('warning', { code, message: `${message}${more}`, subject: name });
    }

    /** Reports an error that a function of the application has thrown. @param {unknown} error @internal */
    _report(error) {
        reportTo(this.#engine.platform, error);
    }

    /** The engine of this handle. @internal */
    get _engine() {
        return this.#engine;
    }

    /** @throws {TabacusError} `closed` @internal */
    _assertOpen() {
        if (this.#closing) throw closedError();
    }

    async #close() {
        const last = this.#leave();
        this.#engine.remove(this);
        this._kept.delete(this);
        const counters = [...this.#counters._all.values()];
        const stored = counters.filter((counter) => counter instanceof StoredCounter);
        const handles = [...this.#handles.values()];
        if (this.#parts.locks.value) this.#parts.locks.value.close();
        // Locks that are still being loaded get the requests that were made before this call, and then reject
        // them.
        else this.#parts.locks.started?.then((locks) => locks.close()).catch(() => {});
        const flushed = last ? undefined : flushAll(counters);
        const asked = Promise.all([
            ...stored.map((counter) => counter._finish()),
            ...handles.map((handle) => handle._end()),
        ]);
        const done = () => {
            for (const handle of handles) handle._close?.();
            for (const counter of stored) counter._close();
        };
        const closing = flushed
            ? this.#engine.withinClose(Promise.all([flushed, asked])).finally(done)
            : this.#engine.close(asked, done);
        for (const counter of counters) if (counter instanceof ReplicatedCounter) counter._close();
        asked.catch(() => {}); // withinClose() may reject first
        await closing;
    }

    /**
     * Emits `capabilitieschange`, and commits what was counted in memory. Called by the engine.
     * @internal
     */
    _capabilitiesChanged() {
        this.#capabilities = undefined;
        this._emit('capabilitieschange', this.capabilities);
        if (!this.capabilities.opening) flushAll([...this.#counters._all.values()]).catch(() => {});
    }

    /**
     * Closes the tab because the engine has ended by itself. Called by the engine.
     * @param {TabacusError} error
     * @internal
     */
    _fail(error) {
        if (this.#closing) return;
        this.#closing = Promise.resolve();
        this.#leave();
        for (const counter of this.#counters._all.values()) counter._fail();
        for (const handle of this.#handles.values()) handle._end();
        this.#parts.locks.value?._fail(error);
        this._emit('warning', { code: error.code, message: error.message, subject: '' });
    }
}
