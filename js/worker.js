/**
 * The shared memory of a page, from a Worker of your own. Nine kilobytes with its wasm, and no Emscripten runtime.
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
import { ThreadCore } from './threads/thread-core.js';
import { checkHandle, isAttachModule } from './threads/handle.js';
import { SharedMemory } from './threads/shared-memory.js';

export { TabacusError, TabacusRangeError } from './common/errors.js';

/** @typedef {import('./threads/shared-memory.js').SharedMemory} AttachedMemory */
/** @typedef {import('./threads/shared-counter.js').SharedCounter} SharedCounter */
/** @typedef {import('./threads/shared-mutex.js').SharedMutex} SharedMutex */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').TabGrant} TabGrant */
/** @typedef {import('./threads/handle.js').SharedHandle} SharedHandle */

/**
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
 * Attaches this thread to the memory behind `shared.handle`. `close()` what it resolves to when the
 * thread needs it no more, and before it ends: each attachment has 4 KiB of the memory, there is space
 * for 254 at a time, and a thread that was terminated keeps it. Its locks over tabs are released
 * then, where there are Web Locks.
 *
 * @param {SharedHandle} handle
 * @returns {Promise<AttachedMemory>}
 */
export async function attach(handle) {
    requirePlatform('attach()', ['WebAssembly', 'SharedArrayBuffer']);
    const checked = checkHandle(handle);
    const core = new ThreadCore(await instantiate(checked), checked.memory, checked.root);
    if (checked.livenessPrefix === undefined) return new SharedMemory(core, checked);
    const { joinTabLocks } = await imported(import('./threads/tab-lock/tab-locks.js'));
    return new SharedMemory(core, checked, await joinTabLocks(core, checked.livenessPrefix));
}
