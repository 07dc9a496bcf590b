/**
 * An engine: what runs in one context for one namespace. It has the host, the counters' program, and, once used, the
 * program of everything else. All handles that open() returns for the namespace share it.
 */

import { Bridge } from '../core/bridge.js';
import { tabClose, tabOpen } from '../core/generated/counters.js';
import { moduleRegistry } from '../core/module-registry.js';
import { loadModule } from '../core/load-module.js';
import { Lazy } from '../common/lazy.js';
import { Retries } from '../common/retries.js';
import { TabacusError } from '../common/errors.js';
import { Host } from '../host/host.js';

/** @typedef {import('../core/coordination-bridge.js').CoordinationBridge} CoordinationBridge */

/**
 * How an engine notifies its handles.
 *
 * @typedef {object} EngineUser
 * @property {(notice: import('../core/bridge.js').Notice) => void} _notice
 * @property {(error: TabacusError) => void} _fail the engine has ended by itself; nothing is to be asked of it
 */

export class Engine {
    /** @type {Set<EngineUser>} */
    #users = new Set();

    /** Notices of what opening has found, for the first user. @type {import('../core/bridge.js').Notice[]} */
    #early = [];

    /** The options that the first user of a name passed, by kind and name. @type {Map<string, string>} */
    #agreed = new Map();

    /** Ids of stores that were reported to have replaced a lost one. @type {Set<string>} */
    #lost = new Set();

    /** The program of all but replicated counters. @type {Lazy<CoordinationBridge>} */
    #coordination;

    /** Why it has ended by itself. @type {TabacusError | undefined} */
    #failure;

    /** Loads again what has failed to load. @param {() => void} again */
    #retry = (again) => this.retries.add(again);

    /** The other strategies. */
    catalogue = new Lazy(
        () =>
            this.loadPart(
                /** @type {Promise<typeof import('./catalogue.js')>} */ (
                    moduleRegistry.get('catalogue') ?? import('./catalogue.js')
                ),
                ({ Catalogue }, bridge) => new Catalogue(bridge),
            ),
        this.#retry,
    );

    /** Sequences, budgets, rate limits. */
    limits = new Lazy(
        () =>
            this.loadPart(
                /** @type {Promise<typeof import('../limits/limits.js')>} */ (
                    moduleRegistry.get('limits') ?? import('../limits/limits.js')
                ),
                ({ Limits }, bridge) => new Limits(bridge),
            ),
        this.#retry,
    );

    queues = new Lazy(
        () =>
            this.loadPart(
                /** @type {Promise<typeof import('../queue/queues.js')>} */ (
                    moduleRegistry.get('queues') ?? import('../queue/queues.js')
                ),
                ({ Queues }, bridge) => new Queues(bridge, this.platform),
            ),
        this.#retry,
    );

    /**
     * @param {import('../core/load-module.js').Glue} glue of the counters' program
     * @param {Host} host
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} failed called when it has ended by itself
     */
    constructor(glue, host, options, failed) {
        const { namespace, platform } = options;
        this.host = host;
        this.platform = platform;
        this.failed = failed;
        this.retries = new Retries(platform);
        const fail = (/** @type {TabacusError} */ error) => this.#fail(error);
        const notice = (/** @type {import('../core/bridge.js').Notice} */ one) => this.#notice(one);
        this.counters = new Bridge(glue, host, { notice, fail });
        this.counters.start(namespace, 0);
        this.#coordination = new Lazy(async () => {
            /** @type {typeof import('../core/load-coordination.js')} */
            const { loadCoordination } =
                moduleRegistry.get('coordination') ?? (await import('../core/load-coordination.js'));
            return loadCoordination({
                namespace,
                host,
                platform,
                source: options.coordination,
                notice,
                fail,
            });
        });
    }

    /**
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} failed
     */
    static async open(options, failed) {
        // Before the host is made: asking for localStorage may wait for the browser's process.
        const loading = loadModule('single', options.wasm);
        loading.catch(() => {}); // thrown below
        const host = new Host(options.platform, options.namespace);
        try {
            // The database opens while the wasm loads: each takes milliseconds. The core waits for it by itself.
            if (host.database.available) void host.database.ready();
            const engine = new Engine(await loading, host, options, failed);
            // Before all else: the core finds out what the platform has.
            await tabOpen(engine.counters);
            await host.probe();
            return engine;
        } catch (error) {
            host.dispose();
            throw error;
        }
    }

    /** @param {EngineUser} user */
    join(user) {
        this.#users.add(user);
        for (const notice of this.#early.splice(0)) user._notice(notice);
        if (this.#failure) user._fail(this.#failure);
    }

    /** @param {EngineUser} user */
    remove(user) {
        this.#users.delete(user);
    }

    /**
     * Loads a part of the program of all but replicated counters: `module` and the program are fetched at once.
     *
     * @template Module, Part
     * @param {Promise<Module>} module
     * @param {(module: Module, bridge: CoordinationBridge) => Part} make
     * @returns {Promise<Part>}
     */
    async loadPart(module, make) {
        const [loaded, bridge] = await Promise.all([module, this.#coordination.get()]);
        if (this.#failure) throw this.#failure;
        return make(loaded, bridge);
    }

    /**
     * What the first user of a name has asked for: all tabs of the engine use what is behind it.
     *
     * @param {string} kind
     * @param {string} name
     * @param {string} asked what is asked of it, as text
     */
    agreed(kind, name, asked) {
        const key = `${kind}/${name}`;
        this.counters.admit(key);
        const known = this.#agreed.get(key) ?? asked;
        this.#agreed.set(key, known);
        return known;
    }

    /**
     * Commits what is pending, and lets everything go.
     *
     * @param {Promise<unknown>} asked resolves when all that was asked for has been passed on
     * @param {() => void} done called before the programs are let go
     * @returns {Promise<void>} rejects as `flush` does when the last commit of a counter fails
     */
    async close(asked, done) {
        try {
            const closings = [tabClose(this.counters), asked.then(() => this.#closeCoordination())];
            const failed = (await Promise.allSettled(closings)).find(({ status }) => status === 'rejected');
            if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
        } finally {
            done();
            this.#end(new TabacusError('closed', 'the tab was closed before this was done'));
        }
    }

    /** A load that failed was already reported to the call that caused it. */
    async #closeCoordination() {
        const catalogue = this.catalogue.started?.catch(() => undefined).then((loaded) => loaded?.close());
        await Promise.allSettled([
            catalogue,
            this.limits.started?.then((limits) => limits.close()),
            this.#closeQueues(),
        ]);
        await catalogue;
    }

    /** Queues give back their claims under their locks, so the lock table closes after them. */
    async #closeQueues() {
        await this.queues.started?.then((queues) => queues.close()).catch(() => {});
        const bridge = await this.#coordination.started?.catch(() => undefined);
        bridge?.close();
    }

    /**
     * A program has trapped, and is in no state that can be relied on. What was flushed is in the store, as if the tab
     * had crashed.
     *
     * @param {TabacusError} error
     */
    #fail(error) {
        if (this.#failure) return;
        this.#failure = error;
        this.failed();
        this.#end(error);
        for (const user of [...this.#users]) user._fail(error);
        this.queues.value?._fail(error);
        this.limits.value?._fail();
    }

    /** @param {TabacusError} error what is open is rejected with it */
    #end(error) {
        this.retries.end();
        this.host.dispose();
        this.counters.end(error);
        this.#coordination.value?.end(error);
    }

    /** @param {import('../core/bridge.js').Notice} notice */
    #notice(notice) {
        // The counters bring back what they can, and the store watch reports the loss of all else: it is one loss.
        if (notice.lost && notice.subject) {
            if (this.#lost.has(notice.subject)) return;
            this.#lost.add(notice.subject);
        }
        if (this.#users.size === 0) this.#early.push(notice);
        for (const user of [...this.#users]) user._notice(notice);
    }
}
