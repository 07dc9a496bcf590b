/// <reference lib="esnext.disposable" preserve="true" />
import { tabCapabilities } from '../core/generated/counters.js';
import { closedError, TabacusError } from '../common/errors.js';
import { reportTo } from '../host/failure.js';
import { Serial } from '../lock/serial.js';
import { checkName } from '../common/check-arguments.js';
import { Lazy } from '../common/lazy.js';
import { ReplicatedCounter, StoredCounter } from './counter.js';
import { ask, checkAgreement, kinds } from './deferred.js';
import { modules } from './engine.js';
import { TabacusEvent } from './tabacus-event.js';
import { guaranteeOf } from './guarantee.js';
import { checkCounterOptions, isWeaker } from './tab-options.js';

/**
 * What this context has.
 *
 * @typedef {object} Capabilities
 * @property {'indexeddb' | 'localstorage' | 'memory'} store where counters are kept
 * @property {'web-locks' | 'lease' | 'none'} exclusion how tabs keep out of each other's way: by the
 *   browser's locks, or, where it has none, locks by a lease in IndexedDB
 * @property {import('./tab-options.js').Durability} durability the best there is
 * @property {boolean} mirror whether totals are kept in localStorage too, against a lost database
 * @property {boolean} channel whether other tabs learn of an increment at once (BroadcastChannel)
 */

/** @typedef {ReplicatedCounter | StoredCounter} Counter */

/** @typedef {import('../limits/handles.js').Budget} Budget */
/** @typedef {import('../limits/handles.js').RateLimit} RateLimit */
/** @typedef {import('../limits/handles.js').Sequence} Sequence */
/** @typedef {import('../lock/leader.js').Leader} Leader */
/** @typedef {import('../lock/lock.js').Lock} Lock */
/** @typedef {import('../lock/semaphore.js').Semaphore} Semaphore */
/** @typedef {import('../queue/queue.js').Queue} Queue */

/**
 * @typedef {object} CounterOptions
 * @property {import('../common/strategies.js').Strategy} [strategy] `replicated` by default
 * @property {import('./tab-options.js').Durability} [durability] `relaxed` by default. Where it
 *   is given and cannot be had, that is an error (`weaker-guarantee`), unless the tab was opened with
 *   `allowWeaker`
 * @property {number} [delay] `lamport`: how long to wait, after another has shown up, before checking
 *   whether the lock is one's own. The options from here on are whole milliseconds, from 0 to 60 000; 50
 *   by default
 * @property {number} [backOff] `lamport`: how long to wait while another holds the lock, from 1 to
 *   60 000; 50 by default. `optimistic`: a loser waits a random time up to this, from 0 to
 *   60 000; 10 by default
 * @property {number} [forceAfter] `lamport`: a lock older than this is taken from its owner, from 100 to
 *   3 600 000; 5 000 by default
 * @property {number} [foldAfter] `log`: how long after an increment the entries of tabs that are gone are
 *   folded; without Web Locks also how old these must be. From 100 to 3 600 000; 10 000 by default
 * @property {number} [threshold] `deltas`: a sum older than this is counted again, from 0 (at every read)
 *   to 3 600 000; 1 000 by default
 * @property {number} [interval] `batched`: how long increments are gathered, and so how much of the past a
 *   tab that dies may lose. From 1 to 3 600 000; 1 000 by default
 */

/**
 * @template Strategy
 * @typedef {Strategy extends undefined | 'replicated' ? ReplicatedCounter : StoredCounter} CounterBy
 */

/** How many events are kept for a first listener. A store with more faults than that has one fault. */
const keptEventsMax = 64;

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/** What tab.queue() takes without options: those that the first user of its name has passed. */
const anyOptions = {};

/** One namespace in one context. Made by `open()`. */
export class Tab extends EventTarget {
    #engine;
    /** @internal */
    _allowWeaker;
    #leave;
    #found;

    /** Undefined before they are first asked for. @type {Readonly<Capabilities> | undefined} */
    #capabilities;

    /** @type {Map<string, Counter>} */
    #counters = new Map();

    /** @type {Promise<void> | undefined} */
    #closing;

    /**
     * What js/tab/deferred.js defers is made by these. The locks are of this handle, which may close before other
     * handles of the engine.
     *
     * @type {Record<import('./deferred.js').PartName, Lazy<any>>}
     */
    #parts;

    /** By kind and name. @type {Map<string, any>} */
    #handles = new Map();

    /**
     * Events of types that have had no listener yet: the loss of a store that open() finds must not be
     * missed because it came too early.
     * @type {TabacusEvent[]}
     */
    #undelivered = [];

    /**
     * Types of events that have had a listener.
     * @type {Set<string>}
     */
    #listened = new Set();

    /**
     * @param {import('./engine.js').Engine} engine
     * @param {boolean} allowWeaker
     * @param {() => boolean} leave called when it is closed; returns whether no other handle of the engine is open
     * @internal
     */
    constructor(engine, allowWeaker, leave) {
        super();
        this.#engine = engine;
        this._allowWeaker = allowWeaker;
        this.#leave = leave;
        this.#found = tabCapabilities(engine.bridge);
        /** @type {Lazy<import('../lock/tab-locks.js').TabLocks>} */
        const locks = new Lazy(
            () => engine.loadPart('locks', modules.locks(), ({ TabLocks }) => new TabLocks(engine, this)),
            (again) => engine.retries.add(again),
        );
        const leader = new Lazy(async () => (await Promise.all([locks.get(), engine.load('leader')]))[0]);
        this.#parts = { locks, leader, queues: engine.queues, limits: engine.limits };
        engine.join(this);
    }

    /**
     * What this context has, as data: where counters are kept, how durable that is at best.
     *
     * @returns {Readonly<Capabilities>}
     */
    get capabilities() {
        const { storage } = this.#engine.host; // its first use waits, so open() leaves it out
        const found = /** @type {Omit<Capabilities, 'mirror'>} */ (this.#found);
        this.#capabilities ??= Object.freeze({
            ...found,
            mirror: found.store === 'indexeddb' && storage.available,
        });
        return this.#capabilities;
    }

    /**
     * The counter of that name and strategy, shared by all tabs of the origin and namespace. The same
     * object for the same arguments. A strategy but the default is loaded by the first call that names
     * one, and what is asked of its counter waits for that.
     *
     * @template {CounterOptions} [Options={}]
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {Options} [options]
     * @returns {'strategy' extends keyof Options ? CounterBy<Options['strategy']> : ReplicatedCounter}
     * @throws {TabacusError} `invalid-argument`; `closed`; `unavailable` when the strategy needs what the
     *   platform lacks; `weaker-guarantee` when the durability asked for cannot be had
     * @example
     * const clicks = tab.counter('clicks');
     * clicks.add(1);
     */
    counter(name, options = /** @type {Options} */ ({})) {
        const checked = checkCounterOptions(options);
        const { strategy, durability, times } = checked;
        const key = JSON.stringify([checkName(name), strategy, durability, times]);
        this._assertOpen();
        const counter = this.#counters.get(key) ?? this.#make(name, checked);
        this.#counters.set(key, counter); // kept even if refused: the core has it until the tab closes
        if (checked.demanded) this.#checkDurability(counter, checked.durability);
        return /** @type {any} */ (counter);
    }

    /**
     * The lock of that name, over all tabs of the origin and namespace.
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
     * At most `permits` at once, over all tabs of the origin and namespace.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {number} permits an agreement of all who use it, from 1 to 64: a request waits for all of them
     * @returns {Semaphore}
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch`: this tab has it with others
     */
    semaphore(name, permits) {
        return this.#handle('semaphore', name, { permits });
    }

    /**
     * One leader over all tabs of the origin and namespace: the lock `leader/<name>`, in terms that rise.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {Leader}
     * @example
     * await tab.leader('sync').run(async ({ number, signal }) => poll({ term: number, signal }));
     */
    leader(name) {
        return this.#handle('leader', name, anyOptions);
    }

    /**
     * A value that is shown at once while its mutations run one after another, over all tabs: under the
     * lock `serial/<name>`.
     *
     * @template T
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {T} initial what is shown before the first mutation
     * @returns {Serial<T>}
     */
    serial(name, initial) {
        const lock = this.#deferred('lock', `serial/${checkName(name)}`);
        return new Serial(name, initial, lock, this);
    }

    /**
     * The queue of that name, over all tabs of the origin and namespace. The same object for the same name.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../queue/queue-options.js').QueueOptions} [options] an agreement of all tabs
     * @returns {Queue}
     * @throws {TabacusError} `invalid-argument`; `closed`; `kind-mismatch`: this tab has it with other options
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
     * Single flight over all tabs: of those who call while none has finished, one runs `make`, and all
     * get its value, or what it threw, by structured clone. If the runner dies, another runs.
     *
     * @template T
     * @param {string} key a well-formed string of 1 to 128 UTF-16 units
     * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make its value must be one
     *   that can be cloned. `signal` aborts when another may run in its stead
     * @param {{ ttl?: number, signal?: AbortSignal, timeout?: number, maxHold?: number }} [options] `ttl`:
     *   a value not older than so many milliseconds will do; `signal` and `timeout` end the wait
     * @returns {Promise<T>}
     * @example
     * const token = await tab.once('token', async ({ signal }) => (await fetch('/refresh', { signal })).json());
     */
    once(key, make, options) {
        return this._ask('leader', 'once', key, make, options, this.#engine.host.clock.now());
    }

    /**
     * Several locks at once: all or none, in one order for everybody, so that no two lockAll() wait for
     * each other.
     *
     * @template T
     * @overload
     * @param {string[]} names different ones
     * @param {(held: import('../lock/held.js').Held[]) => T | Promise<T>} use in the order of `names`
     * @param {import('../lock/lock-options.js').LockOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<T>} what `use` returns. Rejects as Lock.run(), also with `lock-lost` when one is lost
     *   before all were granted
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @template T
     * @overload
     * @param {string[]} names different ones
     * @param {(held: import('../lock/held.js').Held[] | null) => T | Promise<T>} use given null when they were
     *   asked for in vain
     * @param {import('../lock/lock-options.js').LockOptions} options
     * @returns {Promise<T>}
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
     * Numbers that no two tabs of the origin and namespace get, and that rise in each.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').SequenceOptions} [options]
     * @returns {Sequence} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch`: this tab has it with other options
     */
    sequence(name, options = {}) {
        return this.#handle('sequence', name, options);
    }

    /**
     * So much over all tabs of the origin and namespace, and never more.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').BudgetOptions} options
     * @returns {Budget} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch`: this tab has it with other options
     */
    budget(name, options) {
        return this.#handle('budget', name, options);
    }

    /**
     * At most `limit` in any span of `interval` milliseconds, over all tabs of the origin and namespace.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {import('../limits/handles.js').RateLimitOptions} options
     * @returns {RateLimit} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch`: this tab has it with other options
     */
    rateLimit(name, options) {
        return this.#handle('rateLimit', name, options);
    }

    /**
     * The handle of that kind and name.
     *
     * @param {keyof typeof kinds} kind
     * @param {string} name
     * @param {unknown} options an agreement of all who use the name
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
     * @param {keyof typeof kinds} kind
     * @param {string} name which may be longer than an application's
     * @param {Record<string, any>} [options]
     * @returns {any}
     */
    #deferred(kind, name, options = {}) {
        const [partName, Type] = kinds[kind];
        const part = this.#parts[partName];
        // An application may ask for a lock at each use; all else is made once.
        if (part.value && kind === 'lock') return part.value.adopt({ name }, kind, options);
        return new Type(this, part, kind, name, options);
    }

    /**
     * Calls a method of the locks or of the limits, with its arguments as they are now.
     *
     * @param {import('./deferred.js').PartName} part
     * @param {keyof import('../lock/tab-locks.js').TabLocks | keyof import('../limits/limits.js').Limits} method
     * @param {...unknown} args
     * @returns {Promise<any>}
     * @internal
     */
    _ask(part, method, ...args) {
        return ask(this, this.#parts[part], method, args);
    }

    /**
     * A lock of any name, for js/compat and js/threads.
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
     * Commits what is pending, lets everything go, and ends every iteration and every call that is still
     * open. The tab is closed even where this rejects. While another handle of the namespace is open in this
     * context, only what belongs to this handle is let go: its counters are flushed, its locks released, its
     * handlers and listeners removed; a turn of a rate limit that it waits for, and a job that it runs, go on.
     *
     * @returns {Promise<void>} rejects as `flush` does when the last commit fails
     */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    /** `await using tab = await open()` closes it. */
    [asyncDispose]() {
        return this.close();
    }

    /**
     * `warning` and `storelost`. What happened before anybody listened to a type is kept for the first
     * who does.
     *
     * @overload
     * @param {'warning'} type
     * @param {((event: TabacusEvent<import('./tabacus-event.js').WarningDetail>) => void) | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @overload
     * @param {'storelost'} type
     * @param {((event: TabacusEvent<import('./tabacus-event.js').StoreLostDetail>) => void) | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @overload
     * @param {string} type
     * @param {EventListenerOrEventListenerObject | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @param {string} type
     * @param {any} listener
     * @param {boolean | AddEventListenerOptions} [options]
     */
    addEventListener(type, listener, options) {
        super.addEventListener(type, listener, options);
        if (!listener || this.#listened.has(type)) return;
        this.#listened.add(type);
        const kept = this.#undelivered.filter((event) => event.type === type);
        this.#undelivered = this.#undelivered.filter((event) => event.type !== type);
        void Promise.resolve().then(() => kept.forEach((event) => this.dispatchEvent(event)));
    }

    /**
     * @param {string} name
     * @param {import('./tab-options.js').CheckedCounterOptions} options
     * @returns {Counter}
     */
    #make(name, { strategy, durability: asked, times }) {
        const durability = asked === 'strict' ? 'strict' : 'relaxed';
        const store = /** @type {Capabilities['store']} */ (this.#found.store);
        const guarantee = guaranteeOf(strategy, durability, store);
        if (strategy !== 'replicated') {
            this.#checkNeeds(guarantee);
            const { catalogue } = this.#engine;
            const load = async (/** @type {StoredCounter} */ counter) =>
                (await catalogue.get()).attach(counter, name, { strategy, durability, times });
            return new StoredCounter(name, guarantee, this, load, (begin) => catalogue.whenLoaded(begin));
        }
        return new ReplicatedCounter(name, this.#engine.bridge, durability, guarantee, this);
    }

    /** @param {Readonly<import('./guarantee.js').Guarantee>} guarantee */
    #checkNeeds({ strategy, needs }) {
        const { storage, locks } = this.#engine.host;
        /** @type {Record<import('./guarantee.js').Need, [available: boolean, name: string]>} */
        const parts = {
            storage: [storage.available, 'localStorage'],
            indexeddb: [this.#found.store === 'indexeddb', 'IndexedDB'],
            'web-locks': [locks.available, 'Web Locks'],
        };
        for (const need of needs) {
            const [available, name] = parts[need];
            if (!available) throw new TabacusError('unavailable', `the strategy ${strategy} needs ${name}`);
        }
    }

    /**
     * @param {Counter} counter
     * @param {import('./tab-options.js').Durability} durability
     */
    #checkDurability({ guarantee }, durability) {
        if (this._allowWeaker || !isWeaker(guarantee.durability, durability)) return;
        const has = `the strategy ${guarantee.strategy} has only ${guarantee.durability} durability here`;
        throw new TabacusError('weaker-guarantee', `${has}: ask for that, or open({ allowWeaker: true })`, {
            argument: 'durability',
            value: durability,
            allowed: guarantee.durability,
        });
    }

    /**
     * Warns that a handler or a listener of `name` could not be registered.
     *
     * @param {any} error
     * @param {string} name
     * @param {boolean} [waits] whether it will be, once the module is loaded after all
     * @internal
     */
    _refused({ code = 'unavailable', message }, name, waits) {
        if (this.#closing) return;
        const more = waits ? `; what was registered with ${name} begins once that is no longer so` : '';
        this._emit('warning', { code, message: `${message}${more}`, subject: name });
    }

    /** @param {unknown} error that a function of the application has thrown @internal */
    _report(error) {
        reportTo(this.#engine.platform, error);
    }

    /** @throws {TabacusError} `closed` @internal */
    _assertOpen() {
        if (this.#closing) throw closedError();
    }

    async #close() {
        const last = this.#leave();
        this.#engine.remove(this);
        const counters = [...this.#counters.values()];
        const stored = counters.filter((counter) => counter instanceof StoredCounter);
        const handles = [...this.#handles.values()];
        if (this.#parts.locks.value) this.#parts.locks.value.close();
        // Locks that are being loaded take the requests that were made before this call, and then refuse them.
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
            ? Promise.all([flushed, asked]).finally(done)
            : this.#engine.close(asked, done);
        for (const counter of counters) if (counter instanceof ReplicatedCounter) counter._close();
        await Promise.all([closing, asked]);
    }

    /**
     * For the engine.
     * @param {import('../core/bridge.js').Notice} notice
     * @internal
     */
    _notice({ lost, code, message, previous, subject, recovered }) {
        if (!lost) this._emit('warning', { code, message, subject });
        else this._emit('storelost', { generation: subject, previous, healed: recovered, reason: message });
    }

    /**
     * For the engine, which has ended by itself.
     * @param {TabacusError} error
     * @internal
     */
    _fail(error) {
        if (this.#closing) return;
        this.#closing = Promise.resolve();
        this.#leave();
        for (const counter of this.#counters.values()) counter._fail();
        for (const handle of this.#handles.values()) handle._end();
        this.#parts.locks.value?._fail(error);
        this._emit('warning', { code: error.code, message: error.message, subject: '' });
    }

    /**
     * @param {string} type
     * @param {import('./tabacus-event.js').WarningDetail | import('./tabacus-event.js').StoreLostDetail} detail
     * @internal
     */
    _emit(type, detail) {
        const event = new TabacusEvent(type, detail);
        if (!this.#listened.has(type)) {
            if (this.#undelivered.length < keptEventsMax) this.#undelivered.push(event);
            return;
        }
        // Not from within the core: a listener may call it.
        void Promise.resolve().then(() => this.dispatchEvent(event));
    }
}

/**
 * Flushes the counters of a handle that closes while others are open. Those that could not be loaded have nothing
 * to flush.
 *
 * @param {Counter[]} counters
 * @returns {Promise<void>} rejects as `flush` does
 */
async function flushAll(counters) {
    const flushed = await Promise.allSettled(counters.map((counter) => counter.flush()));
    for (const one of flushed)
        if (one.status === 'rejected' && one.reason.code !== 'unavailable') throw one.reason;
}
