import { Border } from '../core/border.js';
import { invalid, TabacusError } from '../errors.js';
import { reportTo } from '../host/failure.js';
import { Lock } from '../lock/lock.js';
import { checkName } from '../shared/check.js';
import { ReplicatedCounter, StoredCounter } from './counter.js';
import { TabacusEvent } from './event.js';
import { checkCounterOptions, isWeaker } from './options.js';

/**
 * What this context has.
 *
 * @typedef {object} Capabilities
 * @property {'indexeddb' | 'localstorage' | 'memory'} store where counters are kept
 * @property {'web-locks' | 'none'} exclusion how tabs keep out of each other's way
 * @property {import('./options.js').Durability} durability the best there is
 * @property {boolean} mirror whether totals are kept in localStorage too, against a lost database
 * @property {boolean} channel whether other tabs hear of an increment at once (BroadcastChannel)
 * @property {import('../core/tab-core.js').Build} memory the build in use
 */

/** @typedef {ReplicatedCounter | StoredCounter} Counter */

/**
 * @typedef {object} CounterOptions
 * @property {import('./options.js').Strategy} [strategy] `replicated` unless said otherwise
 * @property {import('./options.js').Durability} [durability] `relaxed` unless said otherwise. Where it
 *   is said and cannot be had, that is an error (`weaker-guarantee`), unless the tab was opened with
 *   `allowWeaker`
 */

/** How many events are kept for a first listener. A store with more faults than that has one fault. */
const keptEventsMax = 64;

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/** One namespace in one context. Made by `open()`. */
export class Tab extends EventTarget {
    #glue;
    #border;
    #host;
    #platform;
    #build;
    #allowWeaker;
    #capabilities = /** @type {Readonly<Capabilities>} */ ({});

    /** @type {Map<string, Counter>} */
    #counters = new Map();

    /** The same by their addresses in the core. @type {Map<number, Counter>} */
    #byAddress = new Map();

    /** @type {Promise<void> | undefined} */
    #closing;

    #namespace;

    /** The locks, once one is used. @type {Promise<import('../lock/locks.js').Locks> | undefined} */
    #locks;

    /**
     * Events of types that nobody has listened to yet: a store found lost by open() must not be news
     * that came too early to be heard.
     * @type {TabacusEvent[]}
     */
    #unheard = [];

    /**
     * Types of events that somebody has listened to.
     * @type {Set<string>}
     */
    #heard = new Set();

    /**
     * @param {import('../core/tab-core.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {ReturnType<typeof import('./options.js').checkOpenOptions>} options
     * @internal
     */
    constructor(glue, host, { namespace, platform, allowWeaker, build }) {
        super();
        this.#host = host;
        this.#platform = platform;
        this.#allowWeaker = allowWeaker;
        this.#glue = glue;
        this.#border = new Border(glue, host, {
            changed: (counter) => this.#byAddress.get(counter)?._changed(),
            notice: (notice) => this.#notice(notice),
        });
        this.#border.start(namespace);
        this.#namespace = namespace;
        this.#build = build;
    }

    /**
     * Before all else: the core finds out what the platform has.
     * @internal
     */
    async _open() {
        await this.#border.open();
        this.#capabilities = capabilitiesFrom(this.#border.capabilities(), this.#build);
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
     * object for the same arguments.
     *
     * @template {CounterOptions} [Options={}]
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {Options} [options]
     * @returns {Options extends { strategy: 'naive' | 'locked' | 'transactional' } ? StoredCounter : ReplicatedCounter}
     * @throws {TabacusError} `invalid-argument`; `closed`; `unavailable` when the strategy needs what the
     *   platform lacks; `weaker-guarantee` when the durability asked for cannot be had
     * @example
     * const clicks = tab.counter('clicks');
     * clicks.add(1);
     */
    counter(name, options) {
        const checked = checkCounterOptions(options ?? {});
        const key = `${checked.strategy} ${checked.durability} ${checkName(name)}`;
        if (this.#closing) throw new TabacusError('closed', 'the tab is closed: open() another');
        const counter = this.#counters.get(key) ?? this.#make(name, checked);
        if (checked.demanded) this.#checkDurability(counter, checked.durability);
        this.#counters.set(key, counter);
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
        return new Lock(checkName(name), () => this.#loadLocks());
    }

    /**
     * Single flight over all tabs: of those who call while none has finished, one runs `make`, and all
     * get its value, or an error of its error's name and message. If the runner dies, another runs.
     *
     * @template T
     * @param {string} key a well-formed string of 1 to 128 UTF-16 units
     * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make its value must be what
     *   JSON keeps. `signal` aborts when another may run in its stead
     * @param {{ ttl?: number, signal?: AbortSignal, timeout?: number, maxHold?: number }} [options] `ttl`:
     *   a value not older than so many milliseconds will do; `signal` and `timeout` end the wait
     * @returns {Promise<T>}
     * @example
     * const token = await tab.once('token', async ({ signal }) => (await fetch('/refresh', { signal })).json());
     */
    async once(key, make, options) {
        checkName(key, 'key');
        return (await this.#loadLocks()).once(key, make, options);
    }

    /**
     * Several locks at once: all or none, in one order for everybody, so that no two lockAll() wait for
     * each other.
     *
     * @template T
     * @param {string[]} names different ones
     * @param {(held: import('../lock/held.js').Held[]) => T | Promise<T>} use in the order of `names`
     * @param {import('../lock/options.js').LockOptions} [options]
     * @returns {Promise<T>}
     */
    async lockAll(names, use, options) {
        for (const name of names) checkName(name, 'names');
        if (names.length === 0 || new Set(names).size < names.length) {
            throw invalid('names', names, 'an array of different names');
        }
        return (await this.#loadLocks()).run([...names], use, options, true);
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
     * `warning` and `storelost`, whose `detail` is a WarningDetail and a StoreLostDetail. What happened
     * before anybody listened to a type is kept for the first who does.
     *
     * @override
     * @param {string} type
     * @param {((event: any) => void) | EventListenerObject | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     */
    addEventListener(type, listener, options) {
        super.addEventListener(type, listener, options);
        if (!listener || this.#heard.has(type)) return;
        this.#heard.add(type);
        const kept = this.#unheard.filter((event) => event.type === type);
        this.#unheard = this.#unheard.filter((event) => event.type !== type);
        void Promise.resolve().then(() => kept.forEach((event) => this.dispatchEvent(event)));
    }

    /**
     * @param {string} name
     * @param {ReturnType<typeof checkCounterOptions>} options
     */
    #make(name, { strategy, durability }) {
        const address = this.#border.counter(name, strategy, durability === 'strict');
        const Class = strategy === 'replicated' ? ReplicatedCounter : StoredCounter;
        const counter = new Class(name, address, {
            glue: this.#glue,
            promises: this.#border.promises,
            report: (error) => reportTo(this.#platform, error),
            warn: (detail) => this.#tell('warning', detail),
        });
        this.#byAddress.set(address, counter);
        return counter;
    }

    /**
     * @param {Counter} counter
     * @param {import('./options.js').Durability} durability
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
        if (this.#closing) throw new TabacusError('closed', 'the tab is closed: open() another');
        this.#locks ??= import('../lock/locks.js').then(({ Locks }) =>
            Locks.load({
                namespace: this.#namespace,
                platform: this.#platform,
                allowWeaker: this.#allowWeaker,
                warn: (notice) => this.#notice(notice),
            }),
        );
        return this.#locks;
    }

    async #close() {
        void this.#locks?.then(
            (locks) => locks.close(),
            () => {}, // told to who used a lock
        );
        try {
            const committed = this.#border.close();
            for (const counter of this.#counters.values()) counter._close();
            await committed;
        } finally {
            this.#border.promises.rejectAll();
            this.#host.dispose();
        }
    }

    /** @param {import('../core/border.js').Notice} notice */
    #notice({ lost, code, message, previous, subject, healed }) {
        if (lost) this.#tell('storelost', { generation: subject, previous, healed, reason: message });
        else this.#tell('warning', { code, message, subject });
    }

    /**
     * @param {string} type
     * @param {import('./event.js').WarningDetail | import('./event.js').StoreLostDetail} detail
     */
    #tell(type, detail) {
        const event = new TabacusEvent(type, detail);
        if (!this.#heard.has(type)) {
            if (this.#unheard.length < keptEventsMax) this.#unheard.push(event);
            return;
        }
        // Not from within the core: a listener may call it.
        void Promise.resolve().then(() => this.dispatchEvent(event));
    }
}

/**
 * @param {string[]} fields in the order of TabCore::capabilities
 * @param {import('../core/tab-core.js').Build} memory
 */
function capabilitiesFrom([store, exclusion, durability, mirror, channel], memory) {
    const all = { store, exclusion, durability, mirror: mirror !== '', channel: channel !== '', memory };
    return Object.freeze(/** @type {Capabilities} */ (all));
}
