/**
 * `import 'tabacus/polyfill'` defines navigator.locks on platforms without it, in windows and Workers, by
 * means of a lease in IndexedDB. It changes nothing on a platform that has navigator.locks.
 *
 * A lease ends if its holder has not renewed it for too long. Writes that must be safe against that need the
 * fencing tokens of `tab.lock()`, which Web Locks do not have.
 *
 * @module
 */

import { Lock, LockManager as Locks } from './compat/locks.js';
import { idlInterface, internal, onlyInternal } from './platform/web-idl.js';
import { polyfilled } from './host/web-locks.js';

/** @type {any} */
const platform = globalThis;

/** The interface LockManager (§3.2), which scripts cannot construct. */
class LockManager {
    /** @type {Locks} */
    #locks;

    /** @param {symbol} key */
    constructor(key) {
        onlyInternal(key);
        this.#locks = new Locks();
    }

    get [polyfilled]() {
        return true;
    }

    // The method is async, because Web IDL makes such an operation reject where others throw.
    /** @param {any} _name @param {any} _callback @param {any[]} _more */
    async request(_name, _callback, ..._more) {
        return Reflect.apply(this.#locks.request, this.#locks, arguments);
    }

    async query() {
        return this.#locks.query();
    }
}
idlInterface(LockManager, 'LockManager');

/** navigator.locks exists in secure contexts only (Web Locks §3.1). */
if (platform.navigator && !platform.navigator.locks && platform.isSecureContext !== false) {
    const { navigator } = platform;
    const locks = new LockManager(internal);
    /** @this {unknown} */
    const get = function () {
        if (this !== navigator) throw new TypeError('Illegal invocation');
        return locks;
    };
    Object.defineProperty(get, 'name', { value: 'get locks', configurable: true });
    const property = { configurable: true, enumerable: true, get };
    // A property of the object itself would hide that of the prototype.
    Reflect.deleteProperty(navigator, 'locks');
    // The property is defined on the prototype, as that of a platform is, unless the object has no prototype
    // of its own.
    const prototype = Object.getPrototypeOf(navigator);
    const alone = prototype === null || prototype === Object.prototype || Object.hasOwn(navigator, 'locks');
    Object.defineProperty(alone ? navigator : prototype, 'locks', property);
    // These replace classes of the platform with the same names, if there are any, since our locks are not
    // their instances.
    for (const value of [Lock, LockManager]) {
        Object.defineProperty(platform, value.name, { value, writable: true, configurable: true });
    }
}
