/** The interfaces Lock and LockManager (W3C Web Locks API §3.2 and §3.3). */

import { forEachGlobal, idlInterface, onlyInternal } from './web-idl.js';

/**
 * The implementation behind a LockManager.
 *
 * @typedef {object} LockRequests
 * @property {(given: ArrayLike<any>) => Promise<unknown>} request takes the arguments of request()
 * @property {() => Promise<object>} query
 */

/** Makes the interface Lock (§3.3). Each global object has a class of its own. @returns {any} */
export const lockInterface = () => {
    class Lock {
        #name;
        #mode;

        /** @param {symbol} key @param {string} name @param {string} mode */
        constructor(key, name, mode) {
            onlyInternal(key);
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
    return idlInterface(Lock, 'Lock');
};

/** Makes the interface LockManager (§3.2). @type {() => any} */
export const lockManagerInterface = /* @__PURE__ */ forEachGlobal(() => {
    class LockManager {
        /** @type {LockRequests} */
        #locks;

        /** @param {symbol} key @param {LockRequests} locks */
        constructor(key, locks) {
            onlyInternal(key);
            this.#locks = locks;
        }

        // An operation that returns a promise rejects where others throw (Web IDL §3.7.7).
        /** Requests a lock (§3.2.1). @param {any} _name @param {any} _callback */
        request(_name, _callback) {
            try {
                return this.#locks.request(arguments);
            } catch (error) {
                return Promise.reject(error);
            }
        }

        async query() {
            return this.#locks.query();
        }
    }
    return idlInterface(LockManager, 'LockManager');
});
