/**
 * A LockManager, as `navigator.locks` is one (W3C Web Locks API §3), built on tabacus' locks. It is meant for
 * browsers without Web Locks, and for Chromium, where a waiter that gives up may strand the requests behind
 * it. A name stands for the same lock as in `tab.lock(name)`.
 *
 * @module
 */

import { TabacusError } from '../common/errors.js';
import { idlInterface } from '../platform/web-idl.js';
import { polyfilled } from '../host/web-locks.js';
import { checkRequest, invoked, requestFrom, stolenMessage } from '../platform/lock-request.js';
import { lazyTab } from './lazy-tab.js';

/** @typedef {import('../lock/held.js').Held} Held */
/** @typedef {import('../tab/tab.js').Tab} Tab */
/** @typedef {{ name: string, mode: 'exclusive' | 'shared', clientId: string }} LockInfo */

const constructible = Symbol('constructible');

/** The constructor, read when the module is loaded, because the window of a removed document loses it. */
const { DOMException } = globalThis;

/** Checks the document and its origin (§3.2.1, §3.2.2). */
function checkContext() {
    const { document, origin } = globalThis;
    if (document?.defaultView === null)
        throw new DOMException('the document is not fully active', 'InvalidStateError');
    if (origin === 'null') throw new DOMException('an opaque origin has no locks', 'SecurityError');
}

/** A granted lock (§3.3). LockManager's request() makes it. */
export class Lock {
    #name;
    #mode;

    /**
     * @param {symbol} key
     * @param {string} name
     * @param {'exclusive' | 'shared'} mode
     * @internal
     */
    constructor(key, name, mode) {
        if (key !== constructible) throw new TypeError('Illegal constructor');
        this.#name = name;
        this.#mode = mode;
    }

    get name() {
        return this.#name;
    }

    get mode() {
        return this.#mode;
    }
}
idlInterface(Lock, 'Lock');

/** A lock request (§2.4), from the call of request() until its promise is settled. */
class Request {
    /** @type {Held | null} */
    held = null;

    /** Whether the callback was called. */
    begun = false;

    /** Resolves when the core has answered. @type {Promise<void>} */
    answered = Promise.resolve();

    /** @param {any[]} given */
    constructor(given) {
        const { name, options, callback } = requestFrom(given);
        checkContext();
        checkRequest(name, options);
        this.name = name;
        this.options = options;
        this.callback = callback;
        /** @type {Promise<any>} */
        this.released = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    }

    /** @type {(value: any) => void} */
    resolve = () => {};
    /** @type {(reason: any) => void} */
    reject = () => {};

    /** Calls the callback. @param {Lock | null} lock @returns {Promise<any>} its result */
    invoke(lock) {
        this.begun = true;
        return invoked(this.callback, lock);
    }
}

/** The requests of this manager for one name, in order. */
class NameQueue {
    /** @type {Set<Request>} */
    held = new Set();
    /** @type {Set<Request>} */
    pending = new Set();

    /** The first pending request, if no request of this manager blocks it. */
    get grantable() {
        const [first] = this.pending;
        return first && this.#admits(first.options.mode) ? first : undefined;
    }

    /** Whether a new request would wait for these. @param {Request} request */
    blocks({ options }) {
        return this.pending.size > 0 || !this.#admits(options.mode);
    }

    /** Whether the held locks permit another one of a mode. @param {string} mode */
    #admits(mode) {
        return [...this.held].every(({ options }) => mode === 'shared' && options.mode === 'shared');
    }
}

/** The interface LockManager (§3.2). */
export class LockManager {
    #tab;

    /**
     * The lock task queue (§2.2): requests, releases and queries of all names take effect in its order. The
     * promise is that of its last task.
     * @type {Promise<unknown>}
     */
    #tasks = Promise.resolve();

    /** @type {Map<string, NameQueue>} */
    #queues = new Map();

    /**
     * @param {Tab | Promise<Tab>} [tab] a tab that is already open. By default the manager opens one of its
     *   own
     */
    constructor(tab) {
        this.#tab = lazyTab('locks', tab);
    }

    get [polyfilled]() {
        return true;
    }

    /**
     * Requests a lock, and calls `callback` when it is granted. The lock is held until the promise that
     * `callback` returns is settled.
     *
     * @template T
     * @overload
     * @param {string} name
     * @param {(lock: Lock | null) => T | Promise<T>} callback
     * @returns {Promise<T>} what `callback` returns; rejects as `navigator.locks.request()` does
     */
    /**
     * @template T
     * @overload
     * @param {string} name
     * @param {{ mode?: 'exclusive' | 'shared', ifAvailable?: boolean, steal?: boolean, signal?: AbortSignal }} options
     * @param {(lock: Lock | null) => T | Promise<T>} callback
     * @returns {Promise<T>}
     */
    /**
     * @param {any} name
     * @param {any} callback
     * @param {any[]} more
     */
    async request(name, callback, ...more) {
        const request = new Request(arguments.length < 2 ? [...arguments] : [name, callback, ...more]);
        const { signal } = request.options;
        const abort = () => this.#abort(request);
        signal?.addEventListener('abort', abort);
        this.#enqueue(() => this.#ask(request)).catch((error) => request.reject(platformError(error)));
        try {
            return await request.released;
        } finally {
            signal?.removeEventListener('abort', abort);
        }
    }

    /**
     * Resolves with the locks and the requests of all tabs.
     *
     * @returns {Promise<{ held: LockInfo[], pending: LockInfo[] }>}
     */
    async query() {
        checkContext();
        return this.#enqueue(async () => {
            /** @type {Awaited<ReturnType<import('../lock/tab-locks.js').TabLocks['queryAll']>>} */
            const all = await (await this.#tab())._ask('locks', 'queryAll');
            const of = (/** @type {string} */ wanted) =>
                all
                    .filter(({ state }) => state === wanted)
                    .map(({ name, mode, tab: clientId }) => ({ name, mode, clientId }));
            return { held: of('held'), pending: of('waiting') };
        }).catch((error) => {
            throw platformError(error);
        });
    }

    /**
     * Adds a task to the lock task queue.
     *
     * @template T
     * @param {() => Promise<T>} task
     * @returns {Promise<T>}
     */
    #enqueue(task) {
        const done = this.#tasks.then(task);
        this.#tasks = done.catch(() => {});
        return done;
    }

    /** Returns the requests for a name. @param {string} name */
    #queueOf(name) {
        const queue = this.#queues.get(name) ?? new NameQueue();
        this.#queues.set(name, queue);
        return queue;
    }

    /** Requests a lock (§4.1). @param {Request} request */
    async #ask(request) {
        const { name, options } = request;
        if (options.signal?.aborted) return;
        const tab = await this.#tab();
        if (options.signal?.aborted) return;
        const queue = this.#queueOf(name);
        if (options.ifAvailable && queue.blocks(request)) {
            request.resolve(request.invoke(null));
            return;
        }
        const queued = !options.steal && !options.ifAvailable;
        if (queued) queue.pending.add(request);
        request.answered = tab._acquire(name, options).then(
            (held) => this.#answer(request, held),
            (error) => this.#refuse(request, error),
        );
        await (queued ? this.#settle(tab, name) : request.answered);
    }

    /**
     * Grants a request, or calls its callback with null.
     *
     * @param {Request} request
     * @param {Held | null} held
     */
    #answer(request, held) {
        const queue = this.#queueOf(request.name);
        queue.pending.delete(request);
        if (!held) {
            request.resolve(request.invoke(null));
        } else if (request.options.signal?.aborted) {
            held.release();
        } else {
            // The previous holders are rejected here (§4.1), because on a lease their notification may come
            // later than their release.
            if (request.options.steal) for (const previous of queue.held) this.#lose(previous, stolenMessage);
            request.held = held;
            queue.held.add(request);
            void this.#hold(request, held);
        }
    }

    /** Rejects a request that was not granted. @param {Request} request @param {unknown} error */
    #refuse(request, error) {
        this.#queueOf(request.name).pending.delete(request);
        request.reject(platformError(error));
    }

    /**
     * Runs the callback, and releases the lock when the callback's promise is settled, unless the lock is
     * stolen first.
     *
     * @param {Request} request
     * @param {Held} held
     */
    async #hold(request, held) {
        const queue = this.#queueOf(request.name);
        held._whenLost(({ message }) => this.#lose(request, message));
        const waiting = request.invoke(new Lock(constructible, request.name, request.options.mode));
        await waiting.catch(() => {});
        await this.#enqueue(async () => {
            held.release();
            queue.held.delete(request);
            request.resolve(waiting); // has no effect if the lock was stolen
            await this.#settle(await this.#tab(), request.name);
        });
    }

    /** Rejects a request that has lost its lock. @param {Request} request @param {string} why */
    #lose(request, why) {
        this.#queues.get(request.name)?.held.delete(request);
        request.reject(new DOMException(why, 'AbortError'));
    }

    /** Aborts a request (§4.3). Does nothing if its callback was called. @param {Request} request */
    #abort(request) {
        if (request.begun) return;
        request.reject(request.options.signal?.reason);
        const begins = this.#queues.get(request.name)?.pending.has(request);
        if (begins)
            void this.#enqueue(async () => this.#settle(await this.#tab(), request.name)).catch(() => {});
    }

    /**
     * Processes the queue of a name (§4.5): waits until every request that can be granted has been granted. A
     * request that another tab's holder or waiter blocks stays pending.
     *
     * @param {Tab} tab
     * @param {string} name
     */
    async #settle(tab, name) {
        const queue = this.#queueOf(name);
        const end_ms = performance.now() + grantMsMax;
        while (performance.now() < end_ms) {
            const next = queue.grantable;
            if (!next) break;
            const queried = tab._ask('locks', 'query', name).then(
                (all) => isKeptBack(queue, all),
                () => true,
            );
            if (await Promise.race([next.answered.then(() => false), queried])) break;
        }
        if (queue.held.size + queue.pending.size === 0) this.#queues.delete(name);
    }
}

idlInterface(LockManager, 'LockManager');

/**
 * The longest time that a grant takes. A request that takes longer waits for a holder that query() misses:
 * one that hangs.
 */
const grantMsMax = 2_000;

/**
 * Whether requests of other tabs are among all those of a name.
 *
 * @param {NameQueue} queue
 * @param {{ state: string }[]} all
 */
const isKeptBack = (queue, all) =>
    all.filter(({ state }) => state === 'held').length > queue.held.size ||
    all.filter(({ state }) => state === 'waiting').length > queue.pending.size;

/** Returns the error of the Web Locks API for one of tabacus. @param {any} error */
function platformError(error) {
    if (!(error instanceof TabacusError)) return error;
    const { code, message } = /** @type {{ code: string, message: string }} */ (error);
    if (code === 'closed') return new DOMException(message, 'InvalidStateError');
    return code === 'lock-lost' ? new DOMException(message, 'AbortError') : error;
}
