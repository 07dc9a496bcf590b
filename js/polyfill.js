/**
 * `import 'tabacus/polyfill'`: navigator.locks where the platform has none, in windows and workers, backed by a lease in
 * IndexedDB. Where there is one nothing is changed.
 *
 * A lease ends when its holder has been silent for too long; what must survive that is fenced by `tab.lock()`'s
 * tokens, which Web Locks do not have.
 *
 * @module
 */

import { Lock, LockManager } from './compat/locks.js';

/** @type {any} */
const platform = globalThis;

/** Web Locks §3.1: only where the context is secure. */
if (platform.navigator && !platform.navigator.locks && platform.isSecureContext !== false) {
    const locks = new LockManager();
    const property = { configurable: true, enumerable: true, get: () => locks };
    // On the prototype as the platform's own is, unless the object stands alone.
    const prototype = Object.getPrototypeOf(platform.navigator);
    Object.defineProperty(prototype === Object.prototype ? platform.navigator : prototype, 'locks', property);
    for (const [name, value] of Object.entries({ Lock, LockManager })) {
        if (!(name in platform)) Object.defineProperty(platform, name, { value, writable: true, configurable: true });
    }
}
