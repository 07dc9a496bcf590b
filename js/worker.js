/**
 * `tabacus/worker`: a page's shared memory, for use in a Worker. It has 10 KB with its wasm, and no Emscripten
 * runtime.
 *
 * @example
 * import { attach } from 'tabacus/worker';
 * onmessage = async ({ data: handle }) => {
 *     const shared = await attach(handle);
 *     shared.counter('clicks').add();
 *     shared.close();
 * };
 */

import { invalid } from './common/errors.js';
import { imported } from './common/import-failure.js';
import { requirePlatform } from './common/require-platform.js';
import { joinMemory } from './threads/exit/join-memory.js';
import { checkHandle, isAttachModule } from './threads/handle.js';
import { SharedMemory } from './threads/shared-memory.js';

export { TabacusError, TabacusRangeError } from './common/errors.js';

/** @typedef {import('./threads/shared-memory.js').SharedMemory} AttachedMemory */
/** @typedef {import('./threads/shared-counter.js').SharedCounter} SharedCounter */
/** @typedef {import('./threads/shared-condition.js').SharedCondition} SharedCondition */
/** @typedef {import('./threads/shared-mutex.js').SharedMutex} SharedMutex */
/** @typedef {import('./threads/tab-counter/shared-tab-counter.js').SharedTabCounter} SharedTabCounter */
/** @typedef {import('./threads/shared-rw-lock.js').SharedRwLock} SharedRwLock */
/** @typedef {import('./threads/shared-rw-lock.js').RwGrant} RwGrant */
/** @typedef {import('./threads/shared-semaphore.js').SharedSemaphore} SharedSemaphore */
/** @typedef {import('./threads/shared-barrier.js').SharedBarrier} SharedBarrier */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').TabGrant} TabGrant */
/** @typedef {import('./threads/handle.js').SharedHandle} SharedHandle */

/**
 * Instantiates attach.wasm with the memory of a handle.
 *
 * @param {SharedHandle} handle
 * @returns {Promise<import('./threads/thread-core.js').AttachExports>}
 */
async function instantiate({ memory, module }) {
    const wrong = () => invalid('handle.module', module, 'the attach.wasm of this package');
    if (!isAttachModule(module)) throw wrong();
    try {
        return /** @type {any} */ (await WebAssembly.instantiate(module, { env: { memory } })).exports;
    } catch (cause) {
        throw Object.assign(wrong(), { cause });
    }
}

/**
 * Attaches this thread to a shared memory. Each attachment takes 4 KiB of the memory, and at most 254 can
 * exist at a time. If the thread is terminated, also during this call, its attachment is given back, and what it
 * holds goes to other threads: in a browser with Web Locks, and in Node if the thread that called `threads()` has
 * started the Worker after that call. Elsewhere call `close()` of the result before the thread ends.
 *
 * @param {SharedHandle} handle the property `handle` of the memory, posted by the page
 * @returns {Promise<AttachedMemory>} rejects with `invalid-argument` if it is no handle, or one of another
 *   version of the package; with `unavailable`, or with `out-of-memory` if there are 254 attachments
 */
export async function attach(handle) {
    requirePlatform('attach()', ['WebAssembly', 'SharedArrayBuffer']);
    const checked = checkHandle(handle);
    const core = await joinMemory(await instantiate(checked), checked);
    try {
        if (!checked.tabLocks) return new SharedMemory(core, checked);
        const { joinTabLocks } = await imported(import('./threads/tab-lock/tab-locks.js'));
        return new SharedMemory(core, checked, await joinTabLocks(core, checked.livenessPrefix));
    } catch (error) {
        core.close();
        throw error;
    }
}
