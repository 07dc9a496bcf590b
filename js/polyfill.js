/**
 * `import 'tabacus/polyfill'`: navigator.locks where the platform has none, in windows and workers, backed by a lease in
 * IndexedDB. Where there is one nothing is changed.
 *
 * A lease ends when its holder has been silent for too long; what must survive that is fenced by `tab.lock()`'s
 * tokens, which Web Locks do not have.
 *
 * @module
 */

import { Lock, LockManager as Locks } from './compat/locks.js';
import { idlInterface, internal, onlyInternal } from './platform/web-idl.js';
import { polyfilled } from './host/web-locks.js';

/** @type {any} */
const platform = globalThis;

/** §3.2, which scripts cannot construct. */
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

    // Async: what Web IDL refuses of a promise's operation, it rejects.
    /** @param {any} _name @param {any} _callback @param {any[]} _more */
    async request(_name, _callback, ..._more) {
        return Reflect.apply(this.#locks.request, this.#locks, arguments);
    }

    async query() {
        return this.#locks.query();
    }
}
idlInterface(LockManager, 'LockManager');

/** Web Locks §3.1: only where the context is secure. */
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
    // What the object has of its own would hide it.
    Reflect.deleteProperty(navigator, 'locks');
    // On the prototype as the platform's own is, unless the object stands alone.
    const prototype = Object.getPrototypeOf(navigator);
    const alone = prototype === null || prototype === Object.prototype || Object.hasOwn(navigator, 'locks');
    Object.defineProperty(alone ? navigator : prototype, 'locks', property);
    // Whatever the platform has by these names, our locks are not its instances.
    for (const value of [Lock, LockManager]) {
        Object.defineProperty(platform, value.name, { value, writable: true, configurable: true });
    }
}
