/** @typedef {import('./thread-lock-manager.js').ThreadLockManager} ThreadLockManager */
/** @typedef {import('./thread-lock-manager.js').LockInfo} LockInfo */

/**
 * The locks of a memory, for the threads that share it. It is a LockManager (W3C Web Locks API §3.2), as
 * `navigator.locks` is one for the tabs of an origin. The first call loads the code behind it, which then
 * checks the arguments.
 */
export class SharedLocks {
    #load;
    /** @type {ThreadLockManager | undefined} */
    #open;

    /** @param {() => Promise<ThreadLockManager>} load */
    constructor(load) {
        this.#load = load;
    }

    /**
     * Requests a lock, and calls `callback` when it is granted. The lock is held until the promise that
     * `callback` returns is settled.
     *
     * @template T
     * @overload
     * @param {string} name
     * @param {(lock: Lock | null) => T | Promise<T>} callback
     * @returns {Promise<T>} what `callback` returns; rejects as `navigator.locks.request()` does, and with
     *   `closed`, `unavailable` or `out-of-memory`
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
     * @param {any} _name
     * @param {any} _callback the callback; or the options, which the callback follows
     * @returns {Promise<any>}
     */
    async request(_name, _callback) {
        return (this.#open ??= await this.#load()).request(arguments);
    }

    /**
     * Resolves with the locks and the requests of all threads. `clientId` identifies a thread.
     *
     * @returns {Promise<{ held: LockInfo[], pending: LockInfo[] }>}
     */
    async query() {
        return (this.#open ??= await this.#load()).query();
    }
}
