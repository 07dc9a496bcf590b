/// <reference lib="esnext.disposable" preserve="true" />
import { Bridge } from '../core/bridge.js';
import { moduleRegistry } from '../core/module-registry.js';
import { invalid, TabacusError } from '../common/errors.js';
import { reportTo } from '../host/failure.js';
import { Budget, RateLimit, Sequence } from '../limits/handles.js';
import { Leader } from '../lock/leader.js';
import { Lock } from '../lock/lock.js';
import { Semaphore } from '../lock/semaphore.js';
import { Serial } from '../lock/serial.js';
import { checkQueueOptions } from '../queue/queue-options.js';
import { Queue } from '../queue/queue.js';
import { asPassed, checkFunction, checkInteger, checkName } from '../common/check-arguments.js';
import { Lazy } from '../common/lazy.js';
import { ReplicatedCounter, StoredCounter } from './counter.js';
import { TabacusEvent } from './tabacus-event.js';
import { guaranteeFrom, storedGuarantee } from './guarantee.js';
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

/** One namespace in one context. Made by `open()`. */
export class Tab extends EventTarget {
    #bridge;
    #host;
    #platform;
    #allowWeaker;
    #capabilities = /** @type {Readonly<Capabilities>} */ ({});

    /** @type {Map<string, Counter>} */
    #counters = new Map();

    /** Those of the default strategy, by their addresses in the core. @type {Map<number, Counter>} */
    #byAddress = new Map();

    /** The program of all below. @type {Lazy<Bridge>} */
    #coordination;

    /**
     * A part of that program: `module` and the program are fetched at once.
     *
     * @template Module, Part
     * @param {Promise<Module>} module
     * @param {(module: Module, bridge: Bridge) => Part} make
     */
    async #part(module, make) {
        const [loaded, bridge] = await Promise.all([module, this.#coordination.get()]);
        return make(loaded, bridge);
    }

    /** The other strategies. */
    #catalogue = new Lazy(() =>
        this.#part(
            /** @type {Promise<typeof import('./catalogue.js')>} */ (
                moduleRegistry.get('catalogue') ?? import('./catalogue.js')
            ),
            ({ Catalogue }, bridge) => new Catalogue(bridge),
        ),
    );

    /** @type {Promise<void> | undefined} */
    #closing;

    #locks = new Lazy(() =>
        this.#part(
            /** @type {Promise<typeof import('../lock/tab-locks.js')>} */ (
                moduleRegistry.get('locks') ?? import('../lock/tab-locks.js')
            ),
            ({ TabLocks }, bridge) =>
                new TabLocks(bridge, { platform: this.#platform, allowWeaker: this.#allowWeaker }),
        ),
    );

    /** Sequences, budgets, rate limits. */
    #limits = new Lazy(() =>
        this.#part(
            /** @type {Promise<typeof import('../limits/limits.js')>} */ (
                moduleRegistry.get('limits') ?? import('../limits/limits.js')
            ),
            ({ Limits }, bridge) => new Limits(bridge, this.#allowWeaker),
        ),
    );

    /** Throws when the tab is closed: its callers are asynchronous. */
    #loadLimits = () => {
        this.#assertOpen();
        return this.#limits.get();
    };
    #queues = new Lazy(() =>
        this.#part(
            /** @type {Promise<typeof import('../queue/queues.js')>} */ (
                moduleRegistry.get('queues') ?? import('../queue/queues.js')
            ),
            ({ Queues }, bridge) => new Queues(bridge, this.#platform),
        ),
    );

    /** By name, with the options that each was made with. @type {Map<string, { queue: Queue, options: string }>} */
    #queuesByName = new Map();

    /** Of semaphores, by name. @type {Map<string, number>} */
    #permitsByName = new Map();

    /** One for each name: its first calls wait for their module together, in their order. @type {Map<string, Leader>} */
    #leaders = new Map();

    /** @type {Map<string, Sequence | Budget | RateLimit>} */
    #limitsByName = new Map();

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
     * Ids of stores that were reported to have replaced a lost one.
     * @type {Set<string>}
     */
    #lost = new Set();

    /**
     * @param {import('../core/load-module.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @internal
     */
    constructor(glue, host, { namespace, platform, allowWeaker, coordination }) {
        super();
        this.#host = host;
        this.#platform = platform;
        this.#allowWeaker = allowWeaker;
        const notice = (/** @type {import('../core/bridge.js').Notice} */ one) => this.#notice(one);
        this.#bridge = new Bridge(glue, host, {
            changed: (counter) => this.#byAddress.get(counter)?._changed(),
            notice,
        });
        this.#bridge.start(namespace, 0);
        this.#coordination = new Lazy(async () => {
            /** @type {typeof import('../core/load-coordination.js')} */
            const { loadCoordination } =
                moduleRegistry.get('coordination') ?? (await import('../core/load-coordination.js'));
            return loadCoordination({ namespace, host, platform, source: coordination, notice });
        });
    }

    /**
     * Before all else: the core finds out what the platform has.
     * @internal
     */
    async _open() {
        await this.#bridge.open();
        await this.#host.probe();
        this.#capabilities = capabilitiesFrom(this.#bridge.capabilities());
        return this;
    }

    /**
     * What this context has, as data: where counters are kept, how durable that is at best.
     *
     * @returns {Readonly<Capabilities>}
     */
    get capabilities() {
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
        const key = JSON.stringify([checkName(name), strategy, durability, ...times]);
        this.#assertOpen();
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
        return this.#lock(checkName(name));
    }

    /** @param {string} name which may be longer than an application's */
    #lock(name) {
        return new Lock(name, () => this.#loadLocks());
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
        checkName(name);
        checkInteger('permits', permits, 1, 64);
        const known = this.#permitsByName.get(name) ?? permits;
        if (known !== permits)
            throw new TabacusError(
                'kind-mismatch',
                `this tab has the semaphore ${name} with ${known} permits`,
            );
        this.#permitsByName.set(name, permits);
        return new Semaphore(name, permits, () => this.#loadLocks());
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
        let leader = this.#leaders.get(checkName(name));
        if (!leader)
            this.#leaders.set(
                name,
                (leader = new Leader(name, this.#lock(`leader/${name}`), () => this.#loadLocks())),
            );
        return leader;
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
        return new Serial(checkName(name), initial, this.#lock(`serial/${name}`), this.#platform);
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
    queue(name, options) {
        const checked = checkQueueOptions(options === undefined ? {} : options);
        checkName(name);
        this.#assertOpen();
        const known = this.#queuesByName.get(name);
        const asked = String(checked);
        if (known) {
            if (options === undefined || known.options === asked) return known.queue;
            throw new TabacusError('kind-mismatch', `this tab has the queue ${name} with other options`);
        }
        let opened = /** @type {import('../queue/open-queue.js').OpenQueue | undefined} */ (undefined);
        const load = async () => {
            this.#assertOpen();
            const queues = await this.#queues.get();
            return (opened ??= queues.open(name, checked));
        };
        const report = (/** @type {any} */ { code = 'unavailable', message }) =>
            this.#closing || this.#emit('warning', { code, message, subject: name });
        const queue = new Queue(name, load, report, () => this.#assertOpen());
        this.#queuesByName.set(name, { queue, options: asked });
        return queue;
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
    async once(key, make, options) {
        checkName(key, 'key');
        checkFunction('make', make);
        const asked = asPassed(options);
        const called_ms = this.#host.clock.now();
        return (await this.#loadLocks()).once(key, make, called_ms, asked);
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
    async lockAll(names, use, options) {
        if (!Array.isArray(names) || names.length === 0 || new Set(names).size < names.length) {
            throw invalid('names', names, 'an array of one or more different names');
        }
        for (const name of names) checkName(name, 'names');
        checkFunction('use', use);
        const [all, asked] = [[...names], asPassed(options)];
        return (await this.#loadLocks()).run(all, use, asked, true);
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
        return this.#limit(new Sequence(checkName(name), options, this.#loadLimits));
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
        return this.#limit(new Budget(checkName(name), options, this.#loadLimits));
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
        return this.#limit(new RateLimit(checkName(name), options, this.#loadLimits));
    }

    /**
     * The one that there is already of that kind and name.
     *
     * @template {Sequence | Budget | RateLimit} One
     * @param {One} made
     * @returns {One}
     */
    #limit(made) {
        const key = `${made._kind}/${made.name}`;
        const known = this.#limitsByName.get(key);
        if (known && String(known._numbers) !== String(made._numbers)) {
            throw new TabacusError(
                'kind-mismatch',
                `this tab has the ${made._kind} ${made.name} with other options`,
            );
        }
        if (!known) {
            this.#limitsByName.set(key, made);
            made._begin();
        }
        return /** @type {One} */ (known ?? made);
    }

    /**
     * A lock of any name, for js/compat.
     *
     * @param {string} name
     * @param {import('../lock/lock-options.js').LockOptions} options
     * @internal
     */
    async _acquire(name, options) {
        return (await (await this.#loadLocks()).acquire([name], options))[0] ?? null;
    }

    /**
     * @param {string} name
     * @internal
     */
    async _query(name) {
        return (await this.#loadLocks()).query(name);
    }

    /** @internal */
    async _queryAll() {
        return (await this.#loadLocks()).queryAll();
    }

    /**
     * Commits what is pending, lets everything go, and ends every iteration and every call that is still
     * open. The tab is closed even where this rejects.
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
    #make(name, { strategy, durability, times }) {
        const strict = durability === 'strict';
        const owner = {
            report: (/** @type {unknown} */ error) => reportTo(this.#platform, error),
            warn: (/** @type {import('./tabacus-event.js').WarningDetail} */ detail) =>
                this.#emit('warning', detail),
            limits: this.#loadLimits,
        };
        if (strategy !== 'replicated') {
            const guarantee = storedGuarantee(strategy, strict);
            this.#checkNeeds(guarantee);
            return new StoredCounter(name, guarantee, owner, async (counter) =>
                (await this.#catalogue.get()).attach(counter, [name, strategy, ...times], strict),
            );
        }
        const address = this.#bridge.counter([name], strict);
        const guarantee = guaranteeFrom(this.#bridge.guarantee(address));
        const { glue, promises } = this.#bridge;
        const counter = new ReplicatedCounter(name, glue, promises, address, guarantee, owner);
        this.#byAddress.set(address, counter);
        return counter;
    }

    /** @param {Readonly<import('./guarantee.js').Guarantee>} guarantee */
    #checkNeeds({ strategy, needs }) {
        /** @type {Record<import('./guarantee.js').Need, [available: boolean, name: string]>} */
        const parts = {
            storage: [this.#host.storage.available, 'localStorage'],
            indexeddb: [this.#capabilities.store === 'indexeddb', 'IndexedDB'],
            'web-locks': [this.#host.locks.available, 'Web Locks'],
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
        if (this.#allowWeaker || !isWeaker(guarantee.durability, durability)) return;
        const has = `the strategy ${guarantee.strategy} has only ${guarantee.durability} durability here`;
        throw new TabacusError('weaker-guarantee', `${has}: ask for that, or open({ allowWeaker: true })`, {
            argument: 'durability',
            value: durability,
            allowed: guarantee.durability,
        });
    }

    #loadLocks() {
        this.#assertOpen();
        return this.#locks.get();
    }

    #assertOpen() {
        if (this.#closing) throw new TabacusError('closed', 'the tab is closed: open() another');
    }

    async #close() {
        const counters = [...this.#counters.values()];
        const closings = [this.#bridge.close(), this.#closeCoordination(counters)];
        for (const counter of counters) if (counter instanceof ReplicatedCounter) counter._close();
        try {
            const failed = (await Promise.allSettled(closings)).find(({ status }) => status === 'rejected');
            if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
        } finally {
            this.#bridge.promises.rejectAll();
            void this.#coordination.started?.then(
                ({ promises }) => promises.rejectAll(),
                () => {}, // reported to the call that loaded it
            );
            this.#host.dispose();
        }
    }

    /**
     * What failed to load was reported to the call that loaded it.
     *
     * @param {Counter[]} counters
     * @returns {Promise<void>} rejects as `flush` does when the last commit of a counter fails
     */
    async #closeCoordination(counters) {
        const stored = counters.filter((counter) => counter instanceof StoredCounter);
        const catalogue = Promise.all(stored.map((counter) => counter._end()))
            .then(() => this.#catalogue.started?.catch(() => undefined))
            .then((loaded) => loaded?.close());
        await Promise.allSettled([
            catalogue,
            this.#limits.started?.then((limits) => limits.close()),
            this.#closeQueues().then(() => this.#closeLocks()),
        ]);
        for (const counter of stored) counter._close();
        return catalogue;
    }

    async #closeQueues() {
        await Promise.all([...this.#queuesByName.values()].map(({ queue }) => queue._asked()));
        await this.#queues.started?.then(
            (queues) => queues.close(),
            () => {},
        );
    }

    /** After the queues, which give back what they have claimed, under locks of the same table. */
    async #closeLocks() {
        const locks = await this.#locks.started?.catch(() => undefined);
        locks?.close();
        const bridge = await this.#coordination.started?.catch(() => undefined);
        bridge?.invoke('_coordination_close', []);
    }

    /** @param {import('../core/bridge.js').Notice} notice */
    #notice({ lost, code, message, previous, subject, recovered }) {
        if (!lost) this.#emit('warning', { code, message, subject });
        // Locks, queues and limits each check for themselves; the tab reports one loss once.
        else if (!this.#lost.has(subject)) {
            if (subject) this.#lost.add(subject);
            this.#emit('storelost', { generation: subject, previous, healed: recovered, reason: message });
        }
    }

    /**
     * @param {string} type
     * @param {import('./tabacus-event.js').WarningDetail | import('./tabacus-event.js').StoreLostDetail} detail
     */
    #emit(type, detail) {
        const event = new TabacusEvent(type, detail);
        if (!this.#listened.has(type)) {
            if (this.#undelivered.length < keptEventsMax) this.#undelivered.push(event);
            return;
        }
        // Not from within the core: a listener may call it.
        void Promise.resolve().then(() => this.dispatchEvent(event));
    }
}

/** @param {string[]} fields in the order of TabCore::capabilities */
function capabilitiesFrom([store, exclusion, durability, mirror, channel]) {
    const all = { store, exclusion, durability, mirror: mirror !== '', channel: channel !== '' };
    return Object.freeze(/** @type {Capabilities} */ (all));
}
