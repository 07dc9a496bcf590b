/**
 * What runs in this context for one namespace: the host, the counters' program, and the program of everything else
 * once something of it is used. The tabs that open() gives out for the namespace share it.
 */

import { Bridge } from '../core/bridge.js';
import { moduleRegistry } from '../core/module-registry.js';
import { loadModule } from '../core/load-module.js';
import { Lazy } from '../common/lazy.js';
import { TabacusError } from '../common/errors.js';
import { Host } from '../host/host.js';

/** @typedef {import('../common/errors.js').TabacusErrorCode} TabacusErrorCode */

/**
 * What an engine tells its tabs.
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

    /** What the first user of a name has asked for, by kind and name. @type {Map<string, string>} */
    #agreed = new Map();

    /** Ids of stores that were reported to have replaced a lost one. @type {Set<string>} */
    #lost = new Set();

    /** The program of all but replicated counters. @type {Lazy<Bridge>} */
    #coordination;

    /** Why it has ended by itself. @type {TabacusError | undefined} */
    #failure;

    /** The other strategies. */
    catalogue = new Lazy(() =>
        this.part(
            /** @type {Promise<typeof import('./catalogue.js')>} */ (
                moduleRegistry.get('catalogue') ?? import('./catalogue.js')
            ),
            ({ Catalogue }, bridge) => new Catalogue(bridge),
        ),
    );

    /** Sequences, budgets, rate limits. */
    limits = new Lazy(() =>
        this.part(
            /** @type {Promise<typeof import('../limits/limits.js')>} */ (
                moduleRegistry.get('limits') ?? import('../limits/limits.js')
            ),
            ({ Limits }, bridge) => new Limits(bridge),
        ),
    );

    queues = new Lazy(() =>
        this.part(
            /** @type {Promise<typeof import('../queue/queues.js')>} */ (
                moduleRegistry.get('queues') ?? import('../queue/queues.js')
            ),
            ({ Queues }, bridge) => new Queues(bridge, this.platform),
        ),
    );

    /**
     * @param {import('../core/load-module.js').Glue} glue of the counters' program
     * @param {Host} host
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} ended called when no further tab may join it
     */
    constructor(glue, host, { namespace, platform, coordination }, ended) {
        this.host = host;
        this.platform = platform;
        this.ended = ended;
        const fail = (/** @type {TabacusError} */ error) => this.#fail(error);
        const notice = (/** @type {import('../core/bridge.js').Notice} */ one) => this.#notice(one);
        this.counters = new Bridge(glue, host, { notice, fail });
        this.counters.start(namespace, 0);
        this.#coordination = new Lazy(async () => {
            /** @type {typeof import('../core/load-coordination.js')} */
            const { loadCoordination } =
                moduleRegistry.get('coordination') ?? (await import('../core/load-coordination.js'));
            return loadCoordination({ namespace, host, platform, source: coordination, notice, fail });
        });
    }

    /**
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} ended
     */
    static async open(options, ended) {
        // Before the host is made: asking for localStorage may wait for the browser's process.
        const loading = loadModule('single', options.wasm);
        loading.catch(() => {}); // thrown below
        const host = new Host(options.platform, options.namespace);
        try {
            // Beside it: either takes milliseconds, and the core waits for the database by itself.
            if (host.database.available) void host.database.ready();
            const engine = new Engine(await loading, host, options, ended);
            // Before all else: the core finds out what the platform has.
            await engine.counters.open();
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
    leave(user) {
        this.#users.delete(user);
    }

    /**
     * A part of the program of all but replicated counters: `module` and the program are fetched at once.
     *
     * @template Module, Part
     * @param {Promise<Module>} module
     * @param {(module: Module, bridge: Bridge) => Part} make
     * @returns {Promise<Part>}
     */
    async part(module, make) {
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
        const known = this.#agreed.get(key) ?? asked;
        this.#agreed.set(key, known);
        return known;
    }

    /**
     * Commits what is pending, and lets everything go.
     *
     * @param {Promise<unknown>} asked resolves when all that the tabs have asked for was passed on
     * @returns {Promise<void>} rejects as `flush` does when the last commit of a counter fails
     */
    async close(asked) {
        try {
            const closings = [this.counters.close(), asked.then(() => this.#closeCoordination())];
            const failed = (await Promise.allSettled(closings)).find(({ status }) => status === 'rejected');
            if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
        } finally {
            await this.#end(new TabacusError('closed', 'the tab was closed before this was done'));
        }
    }

    /** What failed to load was reported to the call that loaded it. */
    async #closeCoordination() {
        const catalogue = this.catalogue.started?.catch(() => undefined).then((loaded) => loaded?.close());
        await Promise.allSettled([
            catalogue,
            this.limits.started?.then((limits) => limits.close()),
            this.#closeQueues(),
        ]);
        await catalogue;
    }

    /** What a queue has claimed it gives back under its locks, which are lost after that. */
    async #closeQueues() {
        await this.queues.started?.then((queues) => queues.close()).catch(() => {});
        const bridge = await this.#coordination.started?.catch(() => undefined);
        bridge?.invoke('_coordination_close', []);
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
        this.ended();
        void this.#end(error);
        for (const user of [...this.#users]) user._fail(error);
        void this.queues.started?.then((queues) => queues._fail(error)).catch(() => {});
    }

    /** @param {TabacusError} error what is open is rejected with it */
    async #end(error) {
        this.host.dispose();
        this.counters.end(error);
        (await this.#coordination.started?.catch(() => undefined))?.end(error);
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
