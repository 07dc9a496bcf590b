/**
 * An engine runs one namespace in one context. It owns the host and the program, and loads each piece of the
 * program when the piece is first used. All handles that open() returns for the namespace share one engine.
 */

import { Bridge } from '../core/bridge.js';
import { tabCapabilities, tabClose, tabOpen } from '../core/generated/counters.js';
import { alone } from '../core/generated/glue.js';
import { moduleRegistry } from '../core/module-registry.js';
import { hostWork } from '../common/host-work.js';
import { imported } from '../common/import-failure.js';
import { compilePiece, pieceNotStarted } from '../core/load-module.js';
import { Program } from '../core/program.js';
import { Lazy } from '../common/lazy.js';
import { Retries } from '../common/retries.js';
import { TabacusError } from '../common/errors.js';
import { Host } from '../host/host.js';

/** @typedef {import('../core/program.js').PieceName} PieceName */

/** @template T @typedef {() => Promise<T>} Load */

/**
 * The JavaScript modules that are loaded at their first use. A service worker has imported them beforehand.
 */
const modules = {
    /** @type {Load<typeof import('../core/load-coordination.js')>} */
    coordination: async () =>
        moduleRegistry.get('coordination') ?? (await import('../core/load-coordination.js')),
    /** @type {Load<typeof import('../lock/tab-locks.js')>} */
    locks: async () => moduleRegistry.get('locks') ?? (await import('../lock/tab-locks.js')),
    /** @type {Load<typeof import('../queue/queues.js')>} */
    queue: async () => moduleRegistry.get('queues') ?? (await import('../queue/queues.js')),
    /** @type {Load<typeof import('../limits/limits.js')>} */
    limits: async () => moduleRegistry.get('limits') ?? (await import('../limits/limits.js')),
    /** @type {Load<typeof import('../limits/transfer.js')>} */
    transfer: async () => moduleRegistry.get('transfer') ?? (await import('../limits/transfer.js')),
    /** @type {Load<typeof import('./catalogue.js')>} */
    catalogue: async () => moduleRegistry.get('catalogue') ?? (await import('./catalogue.js')),
};

/**
 * The JavaScript module and the pieces of each feature that open() can preload.
 * @type {Record<import('./tab-options.js').Feature, { module: () => Promise<unknown>, pieces: PieceName[] }>}
 */
const featureParts = {
    locks: { module: modules.locks, pieces: ['locks'] },
    leader: { module: modules.locks, pieces: ['locks', 'leader'] },
    queue: { module: modules.queue, pieces: ['locks', 'queue'] },
    limits: { module: modules.limits, pieces: ['locks', 'limits'] },
    catalogue: { module: modules.catalogue, pieces: ['locks', 'catalogue'] },
};

/**
 * How an engine notifies its handles.
 *
 * @typedef {object} EngineUser
 * @property {() => void} _capabilitiesChanged `capabilities` may have changed: the database opens late or has opened
 *   late, the browser has answered `persist`, or the lock manager is cut off
 * @property {(notice: import('../core/bridge.js').Notice) => void} _notice a warning, or the loss of the
 *   store
 * @property {(error: TabacusError) => void} _fail the engine has ended by itself; it must not be called any
 *   more
 */

export { modules };

export class Engine {
    /** The handles that are not closed. @type {WeakRef<EngineUser>[]} */
    #users = [];

    /**
     * Notices that came before the first user joined, which gets them.
     * @type {import('../core/bridge.js').Notice[]}
     */
    #early = [];

    /** The options that the first user of a name passed, by kind and name. @type {Map<string, string>} */
    #agreed = new Map();

    /** What was reported: the ids of stores that have replaced a lost one, and codes. @type {Set<string>} */
    #reported = new Set();

    #options;
    #program;

    /** The pieces that are being compiled ahead of their use. */
    #ahead;

    /** The pieces of the program beside the first. @type {Map<PieceName, Lazy<void>>} */
    #pieces = new Map();

    /**
     * Coordination (js/core/load-coordination.js), on which locks, queues, limits and the catalogue are built.
     * Its value is the function that ends it.
     * @type {Lazy<() => void>}
     */
    #coordination;

    /** Why the engine has ended by itself, if it has. @type {TabacusError | undefined} */
    #failure;

    /** Registers a load that has failed, to be repeated later. @param {() => void} again */
    #retry = (again) => this.retries.add(again);

    /** All strategies but the default. */
    catalogue = new Lazy(
        () => this.loadPart('catalogue', modules.catalogue(), ({ Catalogue }) => new Catalogue(this.bridge)),
        this.#retry,
    );

    /** The sequences, budgets and rate limits. */
    limits = new Lazy(
        () => this.loadPart('limits', modules.limits(), ({ Limits }) => new Limits(this.bridge)),
        this.#retry,
    );

    /** The states of counters, and the values of all counters (js/limits/transfer.js). */
    transfers = new Lazy(
        () => this.loadPart('transfer', modules.transfer(), ({ Transfer }) => new Transfer(this.bridge)),
        this.#retry,
    );

    queues = new Lazy(
        () => this.loadPart('queue', modules.queue(), ({ Queues }) => new Queues(this.bridge, this.platform)),
        this.#retry,
    );

    /**
     * @param {Program} program
     * @param {Map<PieceName, Promise<WebAssembly.Module>>} ahead pieces that are being compiled ahead of their use
     * @param {Host} host
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} failed called when the engine has ended by itself
     */
    constructor(program, ahead, host, options, failed) {
        const { namespace, platform } = options;
        this.#options = options;
        this.#program = program;
        this.#ahead = ahead;
        this.host = host;
        this.platform = platform;
        this.failed = failed;
        this.retries = new Retries(platform);
        this.bridge = new Bridge(program.glue, host, {
            notice: (notice) => this.#notice(notice),
            fail: (error) => this.#fail(error),
        });
        host.listen(
            (code, message, subject) =>
                this.#notice({
                    lost: false,
                    failure: undefined,
                    code,
                    message,
                    subject,
                    previous: '',
                    recovered: 0,
                }),
            () => this.#capabilitiesChanged(),
        );
        this.bridge.start(namespace);
        this.#coordination = new Lazy(async () => {
            const { startCoordination } = await hostWork(
                platform,
                imported(modules.coordination()),
                'import()',
            );
            return startCoordination(this.bridge, platform, (piece) => this.#piece(piece).get());
        });
    }

    /**
     * Starts the program and opens the store.
     *
     * @param {ReturnType<typeof import('./tab-options.js').checkOpenOptions>} options
     * @param {() => void} failed called when the engine has ended by itself
     */
    static async open(options, failed) {
        // The slow steps begin first: the fetches here, and the opening of the database with the host.
        const { wasm, preload, platform } = options;
        const starting = hostWork(
            platform,
            compilePiece('counters', wasm.counters).then((module) =>
                Program.start(module).catch(pieceNotStarted('counters', wasm.counters)),
            ),
            'counters.wasm',
        );
        starting.catch(() => {}); // `await starting` below throws it
        /** @type {Map<PieceName, Promise<WebAssembly.Module>>} */
        const ahead = new Map();
        loadAhead(preload, (piece) => {
            const compiling = ahead.get(piece) ?? hostWork(platform, compilePiece(piece, wasm[piece]), piece);
            ahead.set(piece, compiling);
            return compiling;
        });
        const host = new Host(platform, options.namespace, options.timeouts);
        /** @type {Engine | undefined} */
        let engine;
        try {
            engine = new Engine(await starting, ahead, host, options, failed);
            // tabOpen() must be called first: in it the core finds out what the platform has.
            await tabOpen(engine.bridge);
            // Where localStorage holds the rows, the first counter needs this piece, and its calls cannot
            // wait for it.
            if (tabCapabilities(engine.bridge).store === 'localstorage') await engine.load('storage');
            await host.probe();
            return engine;
        } catch (error) {
            engine?.retries.end();
            host.dispose();
            throw error;
        }
    }

    /**
     * Adds a handle, which gets the notices that came before any handle was there.
     *
     * @param {EngineUser} user
     */
    join(user) {
        this.remove(); // drops those that have been collected
        this.#users.push(new WeakRef(user));
        for (const notice of this.#early.splice(0)) user._notice(notice);
        if (this.#failure) user._fail(this.#failure);
    }

    /** Removes a handle. @param {EngineUser} [user] */
    remove(user) {
        this.#users = this.#users.filter((one) => one.deref() && one.deref() !== user);
    }

    /**
     * Loads a piece of the program, unless it is loaded. If another call is loading it and fails, this call
     * tries once more, because the cause may have gone meanwhile.
     *
     * @param {PieceName} name
     * @returns {Promise<void>}
     */
    load(name) {
        const piece = this.#piece(name);
        return piece.started ? piece.get().catch(() => piece.get()) : piece.get();
    }

    /** Returns a piece, which its get() loads. @param {PieceName} name */
    #piece(name) {
        const known = this.#pieces.get(name);
        if (known) return known;
        /** @type {Lazy<void>} */
        const piece = new Lazy(async () => {
            const { platform } = this;
            const source = this.#options.wasm[name];
            const compiling = this.#ahead.get(name) ?? hostWork(platform, compilePiece(name, source), name);
            this.#ahead.delete(name); // if this fails, the next call has to fetch the piece again
            const module = await compiling;
            // Each other piece imports functions of `locks`.
            if (name !== 'locks' && !alone.includes(name)) await this.#piece('locks').get();
            const adding = this.#program.add(name, module).catch(pieceNotStarted(name, source));
            this.bridge.contain(await hostWork(platform, adding, name));
        }, this.#retry);
        this.#pieces.set(name, piece);
        return piece;
    }

    /** Loads features ahead of their first use. @param {import('./tab-options.js').Feature[]} features */
    preload(features) {
        loadAhead(features, (piece) => this.load(piece));
    }

    /**
     * Makes a part of the engine. `module`, the piece that the part needs, and what else that piece needs are fetched at
     * the same time.
     *
     * @template Module, Part
     * @param {PieceName} piece
     * @param {Promise<Module>} module
     * @param {(module: Module) => Part} make
     * @returns {Promise<Part>}
     */
    async loadPart(piece, module, make) {
        const [loaded] = await Promise.all([
            hostWork(this.platform, imported(module), 'import()'),
            this.load(piece),
            ...(alone.includes(piece) ? [] : [this.load('locks'), this.#coordination.get()]),
        ]);
        if (this.#failure) throw this.#failure;
        return make(loaded);
    }

    /**
     * Returns the options that the first user of a name passed. They hold for all handles of the engine,
     * since these share the object of that name.
     *
     * @param {string} kind
     * @param {string} name
     * @param {string} asked the options that this user passes, as JSON
     */
    agreed(kind, name, asked) {
        const key = `${kind}/${name}`;
        this.bridge.admit(key);
        const known = this.#agreed.get(key) ?? asked;
        this.#agreed.set(key, known);
        return known;
    }

    /**
     * Commits what is pending, releases everything, and ends the program.
     *
     * @param {Promise<unknown>} asked resolves when all earlier calls of the application have been passed on
     * @param {() => void} done called before the program ends
     * @returns {Promise<void>} rejects as a counter's `flush()` does if its last commit fails
     */
    async close(asked, done) {
        try {
            const closings = [tabClose(this.bridge), asked.then(() => this.#closeCoordination())];
            const settled = await this.withinClose(Promise.allSettled(closings));
            const failed = settled.find(({ status }) => status === 'rejected');
            if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
        } finally {
            done();
            this.#end(new TabacusError('closed', 'the tab was closed before this was done'));
        }
    }

    /**
     * Bounds the wait for work that close() begins: a database may not answer.
     *
     * @template Work
     * @param {Promise<Work>} work
     * @returns {Promise<Work>} rejects with `store-failed` once `timeouts.close` has passed
     */
    withinClose(work) {
        const { close } = this.host.timeouts;
        let stop = () => {};
        /** @type {Promise<never>} */
        const late = new Promise((_, reject) => {
            const message = `close() has waited ${close} ms for the store: what was not committed by then is lost`;
            stop = this.host.clock.after(close, () => reject(new TabacusError('store-failed', message)));
        });
        return Promise.race([work, late]).finally(stop);
    }

    /**
     * Closes what has been loaded. A load that failed is ignored: the call that caused it has reported it.
     */
    async #closeCoordination() {
        const catalogue = this.catalogue.started?.catch(() => undefined).then((loaded) => loaded?.close());
        await Promise.allSettled([
            catalogue,
            this.limits.started?.then((limits) => limits.close()),
            this.#closeQueues(),
        ]);
        await catalogue;
    }

    /** Closes the queues, and then the lock table: a queue gives its claims back under its locks. */
    async #closeQueues() {
        await this.queues.started?.then((queues) => queues.close()).catch(() => {});
        const end = await this.#coordination.started?.catch(() => undefined);
        end?.();
    }

    /**
     * Ends the engine after a trap of the program, whose state cannot be relied on then. The outcome is that
     * of a crash of the tab: what was flushed is in the store.
     *
     * @param {TabacusError} error
     */
    #fail(error) {
        if (this.#failure) return;
        this.#failure = error;
        this.failed();
        this.#end(error);
        for (const user of this.#users) user.deref()?._fail(error);
        this.queues.value?._fail(error);
        this.limits.value?._fail();
    }

    /** Ends the host and the bridge. @param {TabacusError} error rejects the calls that are not settled */
    #end(error) {
        this.retries.end();
        this.host.dispose();
        this.bridge.end(error);
    }

    #capabilitiesChanged() {
        for (const user of this.#users) user.deref()?._capabilitiesChanged();
    }

    /**
     * Passes a notice to the handles, or keeps it for the first one.
     *
     * @param {import('../core/bridge.js').Notice} notice
     */
    #notice(notice) {
        // The warning `database-unusable` has announced the failures of all commits that follow.
        if (notice.code === 'store-failed' && !this.host.database.usable) return;
        // The handles are notified once of each cause, although the loss of a store is reported by both the
        // counters and the store loss detector, and although every record of a newer version that is read,
        // and every message of a tab of another version, makes a notice.
        const once = notice.lost ? notice.subject : /version/.test(notice.code) && notice.code;
        if (once) {
            if (this.#reported.has(once)) return;
            this.#reported.add(once);
        }
        if (!this.#users.some((user) => user.deref())) this.#early.push(notice);
        for (const user of this.#users) user.deref()?._notice(notice);
    }
}

/**
 * Begins to load features. A failure is not reported here: the first use of the feature reports it.
 *
 * @param {import('./tab-options.js').Feature[]} features
 * @param {(piece: PieceName) => Promise<unknown>} load
 */
function loadAhead(features, load) {
    const parts = features.map((feature) => featureParts[feature]);
    const loading = parts.flatMap(({ module, pieces }) => [
        modules.coordination(),
        module(),
        ...pieces.map(load),
    ]);
    for (const one of loading) one.catch(() => {});
}
