/**
 * The locks, semaphores, leaders and single flights of a tab: the calls of the core behind their public
 * objects.
 */

import { invalid, TabacusError } from '../common/errors.js';
import {
    fencedBegin,
    fencedCommit,
    lockAbort,
    lockAcquire,
    lockCheck,
    lockRelease,
    lockToken,
    lockWait,
    locksCapabilities,
    semaphoreAcquire,
} from '../core/generated/locks.js';
import { checkFunction, checkName, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { transact } from './fenced-transaction.js';
import { Held } from './held.js';
import { Leader } from './leader.js';
import { Lock } from './lock.js';
import { LockAccess } from './lock-access.js';
import { LockObserver } from './lock-observer.js';
import { checkLockOptions, checkSemaphoreOptions } from './lock-options.js';
import { coreName, lockName } from './names.js';
import { isThenable } from './outcome.js';
import { platformError } from './platform-error.js';
import { releaseOn } from './release-signal.js';
import { Semaphore } from './semaphore.js';
import { within, WaitEnd } from '../common/wait-end.js';
import { forgetOnce, runOnce } from './single-flight.js';
import { WaitingRequests } from './waiting-requests.js';

/** @typedef {import('../core/generated/locks.js').LockOptions} RequestOptions */

export class TabLocks {
    /** @internal */
    _bridge;

    /** @internal */
    _access;

    #observer;
    #waiting;

    /** Loads the piece of the program that once(), leaders and semaphores need. @internal */
    _loadLeader;

    /**
     * @param {import('../tab/engine.js').Engine} engine
     * @param {import('../tab/tab.js').Tab} owner
     */
    constructor(engine, owner) {
        const { bridge, platform } = engine;
        this._loadLeader = () => engine.load('leader');
        this._bridge = bridge;
        this._clock = bridge.host.clock;
        const { exclusion, fenced, tab } = locksCapabilities(bridge);
        /** @type {Readonly<import('./lock-access.js').LockCapabilities>} */
        this.capabilities = Object.freeze({ exclusion, fenced });
        this.tab = tab;
        this._access = new LockAccess(this.capabilities, owner._allowWeaker);
        this.#observer = new LockObserver(this, owner, platform);
        this.#waiting = new WaitingRequests(this, owner, engine);
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
        if (!this._access._ended) lockCheck(this._bridge, id);
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
            if (isThenable(used)) return this._unlessLost(held, used, release);
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
     * Resolves with the value of `used`. Rejects as soon as one of the locks is lost.
     *
     * @template T
     * @param {Held[]} held
     * @param {T | PromiseLike<T>} used
     * @param {() => void} [ended] called before the returned promise is settled
     * @returns {Promise<T>}
     * @internal
     */
    _unlessLost(held, used, ended = () => {}) {
        return new Promise((resolve, reject) => {
            /** @param {unknown} error */
            const fail = (error) => {
                ended();
                reject(error);
            };
            /** @param {unknown} reason */
            const lost = (reason) => {
                for (const one of held) one._end(reason); // the signals of all of them abort
                fail(reason);
            };
            for (const one of held) one._whenLost(lost);
            Promise.resolve(used).then((value) => {
                for (const one of held) one._checkMaxHold();
                ended();
                resolve(value);
            }, fail);
        });
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
            'lock',
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
            'semaphore',
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
     * @param {'lock' | 'semaphore'} kind
     * @param {(names: string[], options: RequestOptions, within: number, request: number) => Promise<number[]>} start
     *   calls the core, and resolves with the numbers of the held locks
     * @param {string[]} names
     * @param {ReturnType<typeof checkLockOptions>} options
     * @param {(held: Held[]) => T | Promise<T>} granted called in the microtask in which the core grants the
     *   request
     * @returns {Promise<T>} what `granted` returns
     */
    #acquire(kind, start, names, options, granted) {
        const { mode, ifAvailable, steal, within: outer, maxHold_ms, label, fenceOptional } = options;
        const { signal, releaseSignal, timeout_ms: timeout } = options;
        this._access._assertAsked(fenceOptional);
        if (outer && !outer._isOf(this)) throw invalid('within', outer, 'a held lock of this tab');
        const limited = maxHold_ms !== undefined || outer !== undefined;
        const known = names.map((name) => (kind === 'lock' ? lockName(this, name) : this._name(name)));
        return this._wait(
            {
                signals: [signal, releaseSignal],
                timeout,
                unwanted: (numbers) => this._giveBack(numbers),
                watched: ifAvailable || steal ? undefined : { kind, names },
            },
            (request) => start(known, options, outer?._id ?? 0, request),
            (/** @type {number[]} */ numbers) => {
                const held = numbers.map((number, index) =>
                    this._hold(number, /** @type {string} */ (names[index]), { mode, label, limited }),
                );
                this._assertKept(held);
                if (releaseSignal) releaseOn(releaseSignal, held);
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
     * @param {number} called_ms when the application called
     * @returns {Promise<T>}
     */
    once(key, make, given, called_ms) {
        return runOnce(this, key, make, given, called_ms);
    }

    /** Implements tab.forget(). @param {string} key @param {unknown} options */
    forget(key, options) {
        return forgetOnce(this, key, options);
    }

    /**
     * Makes the public object of a granted lock.
     *
     * @param {number} id
     * @param {string} name
     * @param {{ mode: 'exclusive' | 'shared', label: string, limited: boolean }} options `limited`: whether it
     *   may have a maxHold
     * @internal
     */
    _hold(id, name, { mode: asked, label, limited }) {
        const found = lockToken(this._bridge, id);
        const token = Number.isNaN(found) ? null : found;
        // A lock that is entered again keeps the mode in which it is held: an exclusive one, if it has a token.
        const mode = token === null ? asked : 'exclusive';
        const held = new Held(this, id, { name, mode, label, token }, limited);
        this._bridge.listeners.held.set(id, held);
        return held;
    }

    /**
     * Releases the locks and throws if the tab was closed before they were granted.
     *
     * @param {Held[]} held
     * @internal
     */
    _assertKept(held) {
        if (!this._access._ended) return;
        for (const { _id } of held) this._release(_id);
        throw this._access._ended;
    }

    /** Releases locks that were granted after the wait for them. @param {number[]} ids @internal */
    _giveBack(ids) {
        if (!this._access._hasFailed()) ids.forEach((id) => lockRelease(this._bridge, id));
    }

    /** Whether a lock has not been released. @param {number} id @internal */
    _holds(id) {
        return this._bridge.listeners.held.has(id);
    }

    /** Releases a lock. Does nothing if it is already released. @param {number} id @internal */
    _release(id) {
        if (this._forget(id) && !this._access._hasFailed()) lockRelease(this._bridge, id);
    }

    /** Forgets a lock. Returns whether it was not forgotten already. @param {number} id @internal */
    _forget(id) {
        const { held } = this._bridge.listeners;
        held.get(id)?._released?.();
        return held.delete(id);
    }

    /**
     * Returns the requests for a lock: first the one or those that hold it, then those that wait, in order.
     *
     * @param {string} name
     * @param {unknown} [given] the options
     * @returns {Promise<import('./lock-observer.js').LockRequestInfo[]>}
     */
    async query(name, given) {
        const requests = await within(this._clock, given, () => this.#observer._requestsOf(name));
        return requests.map(({ info }) => info);
    }

    /**
     * Returns the requests for all locks of the namespace: first those that hold a lock, then those that
     * wait, both in the order of their times.
     */
    async queryAll() {
        return this.#observer._queryAll();
    }

    /**
     * Implements Lock.subscribe().
     *
     * @param {string} name
     * @param {(requests: import('./lock-observer.js').LockRequestInfo[]) => void} listener
     * @returns {() => void} ends the subscription
     */
    subscribe(name, listener) {
        return this.#observer._subscribe(name, listener);
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
        this._access._assertAsked();
        const known = lockName(this, name);
        await this._wait(
            { signals: [checkSignal(signal)], timeout: limit },
            (request) => lockWait(this._bridge, known, limit, request),
            () => {},
        );
    }

    /** The locks of this handle that are not released. */
    #ownHeld() {
        return [...this._bridge.listeners.held.values()].filter((held) => held._isOf(this));
    }

    /** Loses and releases every lock, and withdraws the waiting requests. */
    close() {
        if (this._access._ended) return;
        this._access._ended = new TabacusError('closed', 'the tab was closed before this was done');
        this.#observer._end();
        this.#waiting.stop();
        for (const held of this.#ownHeld()) {
            held._lose('closed');
            this._release(held._id);
        }
        for (const request of this.#waiting.numbers()) lockAbort(this._bridge, request);
    }

    /** Loses every lock because the program has failed, without calling it. @param {TabacusError} error */
    _fail(error) {
        if (this._access._ended) return;
        this._access._ended = error;
        for (const held of this.#ownHeld()) {
            held._end(error);
            this._forget(held._id);
        }
        this.#observer._end();
        this.#waiting.stop();
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
        return transact(this, transaction, stores, write, (writes) =>
            fencedCommit(this._bridge, transaction, writes),
        );
    }

    /**
     * Makes a call of the core that signals, a timeout, or the closing of the tab can end, also if the core does not
     * answer its withdrawal.
     *
     * @template Answer, T
     * @param {{ signals: (AbortSignal | undefined)[], timeout: number | undefined, unwanted?: (answer: Answer) => void, watched?: import('./waiting-requests.js').Watched | undefined }} ends
     *   `unwanted` gets an answer that comes after the end of the wait; the tab warns if it waits for `watched` for long
     * @param {(request: number) => Promise<Answer>} start calls the core once before it returns; lockAbort() takes the
     *   number
     * @param {(answer: Answer) => T | Promise<T>} answered called in the microtask in which the core answers
     * @returns {Promise<T>} what `answered` returns
     * @internal
     */
    _wait({ signals, timeout, unwanted = () => {}, watched }, start, answered) {
        const { listeners, promises } = this._bridge;
        const [request, before] = [listeners.take(), promises.size];
        const withdraw = () => this._access._ended || lockAbort(this._bridge, request);
        // Most waits have no end and are answered at once. For them, a WaitEnd would be a large part of the cost.
        const endless = timeout === undefined && !signals.some((signal) => signal);
        const end = endless ? undefined : new WaitEnd(this._clock, signals, timeout, withdraw);
        const ended = () => {
            end?.done();
            this.#waiting.end(request);
        };
        const started = start(request);
        // Most requests are answered at once. If start() has called a listener, the last call may be that one's.
        if (promises.lastIsOpen || promises.size > before) this.#waiting.begin(request, watched);
        const answer = started.then(
            (value) => {
                ended();
                return end?.over ? /** @type {any} */ (unwanted(value)) : answered(value);
            },
            (error) => {
                ended();
                throw this._access._ended ?? platformError(error, signals);
            },
        );
        return end ? Promise.race([answer, end.ended]) : answer;
    }
}
