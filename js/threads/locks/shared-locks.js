/** @typedef {import('./thread-lock-manager.js').ThreadLockManager} ThreadLockManager */
/** @typedef {import('./thread-lock-manager.js').LockInfo} LockInfo */

/**
 * The locks of a memory, for the threads that share it: a LockManager (W3C Web Locks API §3.2), as
 * `navigator.locks` is one for the tabs of an origin. The first request loads what it takes; arguments are
 * looked at then.
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
     * @param {any} _name
     * @param {any} _callback or the options, and then the callback
     * @returns {Promise<any>}
     */
    async request(_name, _callback) {
        return (this.#open ??= await this.#load()).request(arguments);
    }

    /** @returns {Promise<{ held: LockInfo[], pending: LockInfo[] }>} of all threads; `clientId` names one */
    async query() {
        return (this.#open ??= await this.#load()).query();
    }
}
