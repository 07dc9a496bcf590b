/**
 * The shape of `navigator.locks` (W3C Web Locks API §3) over tabacus's locks: where a browser has none,
 * and where a waiter that gives up must not strand those behind it. A name means the same lock as
 * `tab.lock(name)`.
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

/** Taken early: the window of a document that is gone has it no more. */
const { DOMException } = globalThis;

/** §3.2.1 and §3.2.2, of the document and of its origin. */
function checkContext() {
    const { document, origin } = globalThis;
    if (document?.defaultView === null)
        throw new DOMException('the document is not fully active', 'InvalidStateError');
    if (origin === 'null') throw new DOMException('an opaque origin has no locks', 'SecurityError');
}

/** A lock that was granted, §3.3. Made by LockManager's request(). */
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

/** §2.4: a lock request, from request() until its promise is settled. */
class Request {
    /** @type {Held | null} */
    held = null;
    begun = false;
    /** Settled when the core has answered. @type {Promise<void>} */
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

    /** Invokes the callback. @param {Lock | null} lock @returns {Promise<any>} what it returns */
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

    /** The first request that nothing here keeps from being granted. */
    get grantable() {
        const [first] = this.pending;
        return first && this.#admits(first.options.mode) ? first : undefined;
    }

    /** @param {Request} request whether it would wait behind these */
    blocks({ options }) {
        return this.pending.size > 0 || !this.#admits(options.mode);
    }

    /** @param {string} mode */
    #admits(mode) {
        return [...this.held].every(({ options }) => mode === 'shared' && options.mode === 'shared');
    }
}

export class LockManager {
    #tab;

    /**
     * §2.2's lock task queue: requests, releases and queries take effect in this order, over all
     * names.
     * @type {Promise<unknown>}
     */
    #tasks = Promise.resolve();

    /** @type {Map<string, NameQueue>} */
    #queues = new Map();

    /** @param {Tab | Promise<Tab>} [tab] one of its own by default */
    constructor(tab) {
        this.#tab = lazyTab('locks', tab);
    }

    get [polyfilled]() {
        return true;
    }

    /**
     * @template T
     * @overload
     * @param {string} name
     * @param {(lock: Lock | null) => T | Promise<T>} callback
     * @returns {Promise<T>}
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

    /** @returns {Promise<{ held: LockInfo[], pending: LockInfo[] }>} of all tabs */
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
     * @template T
     * @param {() => Promise<T>} task
     * @returns {Promise<T>}
     */
    #enqueue(task) {
        const done = this.#tasks.then(task);
        this.#tasks = done.catch(() => {});
        return done;
    }

    /** @param {string} name */
    #queueOf(name) {
        const queue = this.#queues.get(name) ?? new NameQueue();
        this.#queues.set(name, queue);
        return queue;
    }

    /** §4.1, request a lock. @param {Request} request */
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

    /** @param {Request} request @param {Held | null} held */
    #answer(request, held) {
        const queue = this.#queueOf(request.name);
        queue.pending.delete(request);
        if (!held) {
            request.resolve(request.invoke(null));
        } else if (request.options.signal?.aborted) {
            held.release();
        } else {
            // §4.1, steal: over the lease, a holder is notified later than it may have released the lock.
            if (request.options.steal) for (const previous of queue.held) this.#lose(previous, stolenMessage);
            request.held = held;
            queue.held.add(request);
            void this.#hold(request, held);
        }
    }

    /** @param {Request} request @param {unknown} error */
    #refuse(request, error) {
        this.#queueOf(request.name).pending.delete(request);
        request.reject(platformError(error));
    }

    /**
     * Until the callback's promise is settled, or the lock was stolen: whichever the lock task queue has first.
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
            request.resolve(waiting); // nothing, of one that was stolen
            await this.#settle(await this.#tab(), request.name);
        });
    }

    /** @param {Request} request @param {string} why */
    #lose(request, why) {
        this.#queues.get(request.name)?.held.delete(request);
        request.reject(new DOMException(why, 'AbortError'));
    }

    /** §4.3, abort a request: of one whose callback was called, nothing. @param {Request} request */
    #abort(request) {
        if (request.begun) return;
        request.reject(request.options.signal?.reason);
        const begins = this.#queues.get(request.name)?.pending.has(request);
        if (begins)
            void this.#enqueue(async () => this.#settle(await this.#tab(), request.name)).catch(() => {});
    }

    /**
     * §4.5, process a queue: waits until what can be granted was granted. A request that another holder
     * or waiter keeps back stays pending.
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

/** A grant takes less; what takes longer waits for a holder that cannot be seen, one that hangs. */
const grantMsMax = 2_000;

/** @param {NameQueue} queue @param {{ state: string }[]} all */
const isKeptBack = (queue, all) =>
    all.filter(({ state }) => state === 'held').length > queue.held.size ||
    all.filter(({ state }) => state === 'waiting').length > queue.pending.size;

/** @param {any} error */
function platformError(error) {
    if (!(error instanceof TabacusError)) return error;
    const { code, message } = /** @type {{ code: string, message: string }} */ (error);
    if (code === 'closed') return new DOMException(message, 'InvalidStateError');
    return code === 'lock-lost' ? new DOMException(message, 'AbortError') : error;
}
