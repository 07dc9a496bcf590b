/**
 * The locks, semaphores, leaders and single flights of a tab: the calls of the core behind their public
 * objects.
 */

import { closedError, invalid, DeadlockError, TabacusError } from '../common/errors.js';
import {
    fencedBegin,
    fencedCommit,
    fencedEnd,
    lockAbort,
    lockAcquire,
    lockCheck,
    lockNames,
    lockQuery,
    lockRelease,
    lockToken,
    lockUnwatch,
    lockWait,
    lockWatch,
    locksCapabilities,
    onceEnter,
    onceSettle,
    semaphoreAcquire,
} from '../core/generated/locks.js';
import { reportTo } from '../host/failure.js';
import { checkFunction, checkName, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { transact } from './fenced-transaction.js';
import { Held } from './held.js';
import { Leader } from './leader.js';
import { Lock } from './lock.js';
import { coreName, domName } from './names.js';
import { checkLockOptions, checkOnceOptions, checkSemaphoreOptions } from './lock-options.js';
import { Semaphore } from './semaphore.js';
import { cloned } from './store-arguments.js';
import { isThenable, cloneError, unwrapOutcome } from './outcome.js';

/**
 * A request for a lock, of any tab.
 *
 * @typedef {object} LockRequestInfo
 * @property {'held' | 'waiting'} state
 * @property {'exclusive' | 'shared'} mode
 * @property {string} label the option `label` of the request
 * @property {number} since when the lock was granted, or when it was requested: milliseconds since the Unix
 *   epoch
 * @property {string} tab identifies the context that made the request
 */

/**
 * @typedef {object} LockCapabilities
 * @property {'web-locks' | 'lease' | 'page'} exclusion how locks exclude other tabs: by Web Locks, by a lease
 *   in IndexedDB, or not at all (`page`: they only hold within this page)
 * @property {boolean} fenced whether held.commit() works
 */

/** @typedef {import('../core/generated/locks.js').LockOptions} RequestOptions */

export class TabLocks {
    /** @internal */
    _bridge;

    #host;
    #platform;

    /**
     * Why calls are refused, if they are: the tab is closed, or the program has failed.
     * @type {TabacusError | undefined}
     */
    #closed;

    /** Whether locks are fenced here, or the application allows weaker ones. */
    #allowed;

    /** The locks that are not released, by their numbers in the core. @type {Map<number, Held>} */
    #held = new Map();

    /**
     * Functions that report the requests of a lock to a listener, by the numbers of the watches.
     * @type {Map<number, () => void>}
     */
    #watches = new Map();

    /** Functions that withdraw the waiting requests. @type {Set<() => void>} */
    #waiting = new Set();

    #owner;

    /** Loads the piece of the program that once(), leaders and semaphores need. @internal */
    _loadLeader;

    /**
     * @param {import('../tab/engine.js').Engine} engine
     * @param {import('../tab/tab.js').Tab} owner
     */
    constructor(engine, owner) {
        const { bridge, platform } = engine;
        this.#host = bridge.host;
        this.#platform = platform;
        this.#owner = owner;
        this._loadLeader = () => engine.load('leader');
        this._bridge = bridge;
        const { exclusion, fenced, tab } = locksCapabilities(bridge);
        /** @type {Readonly<LockCapabilities>} */
        this.capabilities = Object.freeze({ exclusion, fenced });
        this.tab = tab;
        this.#allowed = owner._allowWeaker || this.capabilities.fenced;
    }

    /**
     * Makes a deferred object the lock, semaphore or leader that it stands for.
     *
     * @param {{ name: string }} object
     * @param {string} kind
     * @param {{ permits: number }} options
     */
    adopt(object, kind, { permits }) {
        if (kind === 'lock') return new Lock(object, this);
        return kind === 'leader' ? new Leader(object, this) : new Semaphore(object, permits, this);
    }

    /** Loses the lock if its maxHold is over. @param {number} id @internal */
    _checkMaxHold(id) {
        if (!this.#closed) lockCheck(this._bridge, id);
    }

    /**
     * Acquires locks, runs `use`, and releases them.
     *
     * @template T
     * @param {string[]} names
     * @param {(held: any) => T | Promise<T>} use
     * @param {unknown} options
     * @param {boolean} all whether `use` gets an array
     * @returns {Promise<T>}
     */
    async run(names, use, options, all) {
        return this.#acquireAll(names, options, (held) => this.use(held, use, all));
    }

    /**
     * Implements tab.lockAll().
     *
     * @param {string[]} names
     * @param {(held: Held[] | null) => unknown} use
     * @param {unknown} options
     */
    async lockAll(names, use, options) {
        if (!Array.isArray(names) || names.length === 0 || new Set(names).size < names.length) {
            throw invalid('names', names, 'an array of one or more different names');
        }
        for (const name of names) checkName(name, 'names');
        checkFunction('use', use);
        return this.run([...names], use, options, true);
    }

    /**
     * Runs `use` under held locks, and releases them when it has ended or a lock is lost.
     *
     * @template T
     * @param {Held[]} held empty if the locks were not available
     * @param {(held: any) => T | Promise<T>} use
     * @param {boolean} all whether `use` gets an array
     * @returns {T | Promise<T>}
     */
    use(held, use, all) {
        if (held.length === 0) return use(/** @type {any} */ (null));
        const release = () => {
            for (const { _id } of [...held].reverse()) this._release(_id);
        };
        let used;
        try {
            used = use(all ? held : held[0]);
            if (isThenable(used)) return unlessLost(held, used, release);
        } catch (error) {
            release();
            throw error;
        }
        // While a function runs that does not wait, a lock can be lost in one way only: its maxHold passes.
        try {
            for (const one of held) one._checkMaxHold();
            for (const one of held) one._assertNotLost();
        } finally {
            release();
        }
        return used;
    }

    /**
     * Acquires locks.
     *
     * @param {string[]} names
     * @param {unknown} given the options
     * @returns {Promise<Held[]>} empty if the locks were not available
     */
    async acquire(names, given) {
        return this.#acquireAll(names, given, (held) => held);
    }

    /**
     * Acquires one lock.
     *
     * @param {string} name any DOMString
     * @param {unknown} given the options
     * @returns {Promise<Held | null>} null if the lock was not available
     */
    async acquireOne(name, given) {
        return (await this.acquire([name], given))[0] ?? null;
    }

    /**
     * Acquires locks, and calls `granted` with them.
     *
     * @template T
     * @param {string[]} names
     * @param {unknown} given the options
     * @param {(held: Held[]) => T | Promise<T>} granted
     * @returns {Promise<T>} what `granted` returns
     */
    #acquireAll(names, given, granted) {
        return this.#acquire(
            (known, options, within, request) => lockAcquire(this._bridge, known, options, within, request),
            names,
            checkLockOptions(given),
            granted,
        );
    }

    /**
     * Acquires a permit of a semaphore.
     *
     * @param {string} name
     * @param {number} permits
     * @param {unknown} [given] the options
     * @returns {Promise<Held[]>} empty if no permit was available
     */
    async permit(name, permits, given) {
        return this.#acquire(
            ([known = ''], options, within, request) =>
                semaphoreAcquire(this._bridge, known, permits, options, within, request),
            [name],
            checkSemaphoreOptions(given),
            (held) => held,
        );
    }

    /**
     * Makes an acquire request of the core.
     *
     * @template T
     * @param {(names: string[], options: RequestOptions, within: number, request: number) => Promise<number[]>} start
     *   calls the core, and resolves with the numbers of the held locks
     * @param {string[]} names
     * @param {ReturnType<typeof checkLockOptions>} options
     * @param {(held: Held[]) => T | Promise<T>} granted called in the microtask in which the core grants the
     *   request
     * @returns {Promise<T>} what `granted` returns
     */
    #acquire(start, names, options, granted) {
        this._assertAsked();
        const { within, maxHold_ms, label } = options;
        if (within && !within._isOf(this)) throw invalid('within', within, 'a held lock of this tab');
        const limited = maxHold_ms !== undefined || within !== undefined;
        const known = names.map((name) => this._name(name));
        return this._wait(
            options.signal,
            (request) => start(known, options, within?._id ?? 0, request),
            (numbers) => {
                const held = numbers.map((number, index) =>
                    this.#hold(number, /** @type {string} */ (names[index]), label, limited),
                );
                this.#assertKept(held);
                return granted(held);
            },
        );
    }

    /**
     * Implements tab.once().
     *
     * @template T
     * @param {string} key
     * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make
     * @param {unknown} given the options
     * @param {number} called_ms when the application called, which may be before this module was loaded. The
     *   outcome of a run that has finished since then is returned
     * @returns {Promise<T>}
     */
    async once(key, make, given, called_ms) {
        checkName(key, 'key');
        checkFunction('make', make);
        const { signal, ttl, ...options } = checkOnceOptions(given);
        this._assertAsked();
        this._assertStore('outcomes');
        const age = { ttl_ms: ttl, called_ms };
        const entered = this._name(key);
        const { outcome: other, held: number } = await this._wait(
            signal,
            (request) => onceEnter(this._bridge, entered, options, age, request),
            (entry) => entry,
        );
        if (other) return unwrapOutcome(other.succeeded, this.#host.values.take(other.text));
        const held = this.#hold(number, key, '', options.maxHold_ms !== undefined);
        this.#assertKept([held]);
        /** @type {{ succeeded: boolean, result: any }} */
        let outcome;
        try {
            const run = { signal: held.signal, token: /** @type {number} */ (held.token) };
            const value = await unlessLost([held], make(run));
            if (value !== undefined) cloned('value', value);
            outcome = { succeeded: true, result: { value } };
        } catch (error) {
            if (!held.held) {
                held.release();
                throw error;
            }
            outcome = { succeeded: false, result: cloneError(error) };
            await this.#settle(key, held, outcome);
            throw error;
        }
        await this.#settle(key, held, outcome);
        return outcome.result.value;
    }

    /**
     * Stores the outcome of a run of once(), and releases its lock.
     *
     * @param {string} key
     * @param {Held} held
     * @param {{ succeeded: boolean, result: object }} outcome
     */
    async #settle(key, held, { succeeded, result }) {
        this.#held.delete(held._id);
        this._bridge.listeners.lost.delete(held._id);
        const { values } = this.#host;
        const text = values.keep(result);
        try {
            await onceSettle(this._bridge, coreName(key), held._id, { succeeded, text });
        } finally {
            values.take(text);
        }
    }

    /**
     * Makes the public object of a granted lock.
     *
     * @param {number} id
     * @param {string} name
     * @param {string} label
     * @param {boolean} limited whether it may have a maxHold
     */
    #hold(id, name, label, limited) {
        const token = lockToken(this._bridge, id);
        // A lock that is entered again keeps the mode in which it is held, whatever mode the request names.
        const mode = Number.isNaN(token) ? 'shared' : 'exclusive';
        const held = new Held(
            this,
            id,
            { name, mode, label, token: mode === 'shared' ? null : token },
            limited,
        );
        this.#held.set(id, held);
        this._bridge.listeners.lost.set(id, (reason) => held._lose(reason));
        return held;
    }

    /**
     * Releases the locks and throws if the tab was closed before they were granted.
     * @param {Held[]} held
     */
    #assertKept(held) {
        if (!this.#closed) return;
        for (const { _id } of held) this._release(_id);
        throw this.#closed;
    }

    /** Whether a lock has not been released. @param {number} id @internal */
    _holds(id) {
        return this.#held.has(id);
    }

    /** Releases a lock. Does nothing if it is already released. @param {number} id @internal */
    _release(id) {
        if (!this.#held.delete(id)) return;
        this._bridge.listeners.lost.delete(id);
        if (!this.#hasFailed()) lockRelease(this._bridge, id);
    }

    /**
     * Returns the requests for a lock: first the one or those that hold it, then those that wait, in order.
     *
     * @param {string} name
     * @returns {Promise<LockRequestInfo[]>}
     */
    async query(name) {
        return (await this.#requestsOf(name)).map(({ info }) => info);
    }

    /** Returns the requests for a lock, with their exact times. @param {string} name */
    async #requestsOf(name) {
        this._assertAsked();
        return (await lockQuery(this._bridge, this._name(name))).map(requestFrom);
    }

    /**
     * Returns the requests for all locks of the namespace: first those that hold a lock, then those that
     * wait, both in the order of their times.
     * @returns {Promise<(LockRequestInfo & { name: string })[]>}
     */
    async queryAll() {
        this._assertAsked();
        const names = (await lockNames(this._bridge)).map(domName);
        const found = await Promise.all(
            names.map(async (name) =>
                (await this.#requestsOf(name)).map(({ since_ms, info }) => ({
                    since_ms,
                    info: { name, ...info },
                })),
            ),
        );
        const held = (/** @type {LockRequestInfo} */ { state }) => Number(state === 'held');
        return found
            .flat()
            .sort((a, b) => held(b.info) - held(a.info) || a.since_ms - b.since_ms)
            .map(({ info }) => info);
    }

    /**
     * Resolves when no tab holds the lock.
     *
     * @param {string} name
     * @param {unknown} given the options
     */
    async waitForUnlock(name, given = {}) {
        const { signal, timeout } = checkOptions(given, ['signal', 'timeout']);
        const limit = checkTimeout(timeout);
        this._assertAsked();
        const known = this._name(name);
        await this._wait(
            checkSignal(signal),
            (request) => lockWait(this._bridge, known, limit, request),
            () => {},
        );
    }

    /**
     * Implements Lock.subscribe(). If the lock cannot be watched, the tab emits a warning.
     *
     * @param {string} name
     * @param {(requests: LockRequestInfo[]) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {TabacusError} `closed`
     */
    subscribe(name, listener) {
        if (this.#closed) throw closedError();
        try {
            return this.#watch(name, listener);
        } catch (error) {
            this.#owner._refused(error, name);
            return () => {};
        }
    }

    /**
     * Watches a lock. Changes that happen while the core answers a query are reported together by one more
     * query.
     *
     * @param {string} name
     * @param {(requests: LockRequestInfo[]) => void} listener
     * @returns {() => void} ends the watch
     */
    #watch(name, listener) {
        this._assertOpen();
        const known = this._name(name);
        const watch = this._bridge.listeners.take();
        let asking = false;
        let again = false;
        const report = async () => {
            again = asking;
            if (asking) return;
            asking = true;
            try {
                const state = await this.query(name);
                if (this.#watches.has(watch)) listener(state);
            } catch (error) {
                if (!this.#closed) reportTo(this.#platform, error);
            }
            asking = false;
            if (again) void report();
        };
        this.#watches.set(watch, () => void report());
        this._bridge.listeners.unlocked.set(watch, () => this.#changed(watch));
        lockWatch(this._bridge, known, watch);
        void report();
        return () => {
            if (this.#watches.delete(watch)) this.#unwatch(watch);
        };
    }

    /** Loses and releases every lock, and withdraws the waiting requests. */
    close() {
        if (this.#closed) return;
        this.#closed = new TabacusError('closed', 'the tab was closed before this was done');
        for (const watch of this.#watches.keys()) this.#unwatch(watch);
        this.#watches.clear();
        for (const held of [...this.#held.values()]) {
            held._lose('closed');
            this._release(held._id);
        }
        for (const withdraw of [...this.#waiting]) withdraw();
    }

    /**
     * Loses every lock because the program has failed, without calling the program.
     * @param {TabacusError} error
     */
    _fail(error) {
        if (this.#closed) return;
        this.#closed = error;
        for (const held of [...this.#held.values()]) held._lose(error);
        this.#held.clear();
        this.#watches.clear();
    }

    /** Whether the program has failed, so that it must not be called. */
    #hasFailed() {
        return this.#closed?.code === 'internal';
    }

    /** Ends a watch. @param {number} watch */
    #unwatch(watch) {
        this._bridge.listeners.unlocked.delete(watch);
        if (!this.#hasFailed()) lockUnwatch(this._bridge, watch);
    }

    /**
     * Converts a name for the core, and checks that the core has memory for another name.
     *
     * @param {string} name
     * @internal
     */
    _name(name) {
        const known = coreName(name);
        this._bridge.admit(known);
        return known;
    }

    /**
     * Implements Held.commit().
     *
     * @template T
     * @param {number} held
     * @param {string[]} stores
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write
     * @returns {Promise<T>}
     * @internal
     */
    async _commit(held, stores, write) {
        const transaction = await fencedBegin(this._bridge, held);
        return this._transact(transaction, stores, write, (writes) =>
            fencedCommit(this._bridge, transaction, writes),
        );
    }

    /**
     * Runs `write` in a fenced transaction of the core, and ends the transaction if it fails.
     *
     * @template T
     * @param {number} transaction
     * @param {string[]} stores
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write
     * @param {(writes: import('../core/generated/locks.js').FencedWrite[]) => Promise<void>} commit
     * @returns {Promise<T>}
     * @internal
     */
    async _transact(transaction, stores, write, commit) {
        try {
            return await transact(this._bridge, transaction, stores, write, commit);
        } catch (error) {
            if (!this.#closed) fencedEnd(this._bridge, transaction);
            throw error;
        }
    }

    /**
     * Makes a call of the core that a signal, or the closing of the tab, can end.
     *
     * @template Answer, T
     * @param {AbortSignal | undefined} signal
     * @param {(request: number) => Promise<Answer>} start calls the core; `request` identifies the call in
     *   lockAbort()
     * @param {(answer: Answer) => T | Promise<T>} answered called in the microtask in which the core answers
     * @returns {Promise<T>} what `answered` returns
     * @internal
     */
    _wait(signal, start, answered) {
        signal?.throwIfAborted();
        const request = this._bridge.listeners.take();
        const withdraw = () => lockAbort(this._bridge, request);
        const abort = () => {
            if (!this.#closed) withdraw();
        };
        const ended = () => {
            signal?.removeEventListener('abort', abort);
            this.#waiting.delete(withdraw);
        };
        signal?.addEventListener('abort', abort);
        this.#waiting.add(withdraw);
        return start(request).then(
            (answer) => {
                ended();
                return answered(answer);
            },
            (error) => {
                ended();
                throw this.#closed ?? platformError(error, signal);
            },
        );
    }

    /** Checks, at the beginning of a call of the application, that locks can be used. @internal */
    _assertAsked() {
        if (this.#closed) throw closedError();
        this._assertOpen();
    }

    /** Checks, in a later step of a call, that locks can still be used. @internal */
    _assertOpen() {
        if (this.#hasFailed()) throw this.#closed; // the application called before the program failed
        if (this.#closed) throw closedError();
        if (this.#allowed) return;
        throw new TabacusError(
            'weaker-guarantee',
            this.capabilities.exclusion === 'page'
                ? 'there are neither Web Locks nor IndexedDB here, so that a lock holds within this page only: open({ allowWeaker: true }) allows that'
                : 'there is no IndexedDB here, so that a lock has no fence: open({ allowWeaker: true }) allows that',
        );
    }

    /**
     * Checks that there is a database.
     *
     * @param {string} what what is kept in the database, for the message
     * @throws {TabacusError} `unavailable`
     * @internal
     */
    _assertStore(what) {
        if (!this.capabilities.fenced)
            throw new TabacusError('unavailable', `there is no IndexedDB here, in which ${what} are kept`);
    }

    /** Reports a change to the listener of a watch. @param {number} watch */
    #changed(watch) {
        // The core is running here, and the listener may call it: so it is called in a later microtask.
        void Promise.resolve().then(() => this.#watches.get(watch)?.());
    }
}

/**
 * Resolves with the value of `used`. Rejects as soon as one of the locks is lost.
 *
 * @template T
 * @param {Held[]} held
 * @param {T | PromiseLike<T>} used
 * @param {() => void} [ended] called before the returned promise is settled
 * @returns {Promise<T>}
 */
const unlessLost = (held, used, ended = () => {}) =>
    new Promise((resolve, reject) => {
        /** @param {unknown} error */
        const fail = (error) => {
            ended();
            reject(error);
        };
        for (const one of held) one._whenLost(fail);
        Promise.resolve(used).then((value) => {
            for (const one of held) one._checkMaxHold();
            ended();
            resolve(value);
        }, fail);
    });

/**
 * Replaces the core's error of an abort, a timeout or a deadlock by the one that the application expects: the
 * signal's reason, a DOMException, a DeadlockError.
 *
 * @param {TabacusError} error
 * @param {AbortSignal | undefined} signal
 */
function platformError(error, signal) {
    const { code, message } = /** @type {{ code: string, message: string }} */ (error);
    if (code === 'aborted') return signal?.aborted ? signal.reason : new DOMException(message, 'AbortError');
    if (code === 'timed-out') return new DOMException(message, 'TimeoutError');
    if (code === 'deadlock') return new DeadlockError(message);
    return error;
}

/**
 * Makes the public description of a request, and keeps the exact time for sorting.
 *
 * @param {import('../core/generated/locks.js').LockRequestInfo} request
 * @returns {{ since_ms: number, info: LockRequestInfo }}
 */
const requestFrom = ({ held, mode, label, since_ms, tab }) => ({
    since_ms,
    info: { state: held ? 'held' : 'waiting', mode, label, since: Math.floor(since_ms), tab },
});
