import { closedError } from '../common/errors.js';
import { lockNames, lockQuery, lockUnwatch, lockWatch } from '../core/generated/locks.js';
import { reportTo } from '../host/failure.js';
import { domName, lockName } from './names.js';

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

/** Lists the requests of all tabs, and reports their changes to listeners. It makes no request itself. */
export class LockObserver {
    #locks;
    #owner;
    #platform;

    /**
     * Functions that report the requests of a lock to a listener, by the numbers of the watches.
     * @type {Map<number, () => void>}
     */
    #watches = new Map();

    /**
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {import('../tab/tab.js').Tab} owner
     * @param {import('../host/host.js').Platform} platform
     */
    constructor(locks, owner, platform) {
        this.#locks = locks;
        this.#owner = owner;
        this.#platform = platform;
    }

    /** Returns the requests for a lock, with their exact times. @param {string} name @internal */
    async _requestsOf(name) {
        const locks = this.#locks;
        locks._access._assertAsked();
        return (await lockQuery(locks._bridge, lockName(locks, name))).map(requestFrom);
    }

    /**
     * Implements TabLocks.queryAll().
     *
     * @returns {Promise<(LockRequestInfo & { name: string })[]>}
     * @internal
     */
    async _queryAll() {
        const locks = this.#locks;
        locks._access._assertAsked();
        const names = (await lockNames(locks._bridge)).map(domName);
        const found = await Promise.all(
            names.map(async (name) =>
                (await this._requestsOf(name)).map(({ since_ms, info }) => ({
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
     * Implements Lock.subscribe(). If the lock cannot be watched, the tab emits a warning.
     *
     * @param {string} name
     * @param {(requests: LockRequestInfo[]) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {import('../common/errors.js').TabacusError} `closed`
     * @internal
     */
    _subscribe(name, listener) {
        if (this.#locks._access._ended) throw closedError();
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
        const locks = this.#locks;
        locks._access._assertOpen();
        const known = lockName(locks, name);
        const { listeners } = locks._bridge;
        const watch = listeners.take();
        let asking = false;
        let again = false;
        const report = async () => {
            again = asking;
            if (asking) return;
            asking = true;
            try {
                const state = await locks.query(name);
                if (this.#watches.has(watch)) listener(state);
            } catch (error) {
                if (!locks._access._ended) reportTo(this.#platform, error);
            }
            asking = false;
            if (again) void report();
        };
        this.#watches.set(watch, () => void report());
        listeners.unlocked.set(watch, () => this.#changed(watch));
        lockWatch(locks._bridge, known, watch);
        void report();
        return () => {
            if (this.#watches.delete(watch)) this.#unwatch(watch);
        };
    }

    /** Reports a change to the listener of a watch. @param {number} watch */
    #changed(watch) {
        // The core is running here, and the listener may call it: so it is called in a later microtask.
        void Promise.resolve().then(() => this.#watches.get(watch)?.());
    }

    /** Ends a watch. @param {number} watch */
    #unwatch(watch) {
        const { _access, _bridge: bridge } = this.#locks;
        bridge.listeners.unlocked.delete(watch);
        if (!_access._hasFailed()) lockUnwatch(bridge, watch);
    }

    /** Ends all watches. @internal */
    _end() {
        for (const watch of this.#watches.keys()) this.#unwatch(watch);
        this.#watches.clear();
    }
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
