/** One thread's use of the segments. It is loaded when the thread first uses a shared storage or lock. */

import { idlInterface } from '../../platform/web-idl.js';
import { show, TabacusError } from '../../common/errors.js';
import { checkInteger, checkOptions } from '../../common/check-arguments.js';
import { Lazy } from '../../common/lazy.js';
import { openLocks } from '../locks/thread-lock-manager.js';
import { instantiateStore } from './open-segment.js';
import { openStorage } from '../storage/thread-storage.js';

/** The largest quota of a storage: half of the 32 MiB of a memory. */
const quotaMax_bytes = 2 ** 24;

/** The storage and the locks of one thread. */
class ThreadSegments {
    #core;
    #ops;
    #storage;
    #locks;

    /** The quota that this thread asked for first. @type {number | undefined} */
    #quota_bytes;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {import('../shared-memory.js').SharedMemory} shared
     */
    constructor(core, shared) {
        // Gives the class the properties that a platform's interface has, and a class of JavaScript lacks.
        idlInterface(/** @type {any} */ (shared.locks).constructor, 'LockManager');
        this.#core = core;
        this.#ops = new Lazy(() => instantiateStore(core));
        this.#storage = new Lazy(async () =>
            openStorage(core, await this.#ops.get(), shared, this.#quota_bytes),
        );
        this.#locks = new Lazy(async () => openLocks(core, await this.#ops.get()));
    }

    /** Opens the locks. @returns {Promise<import('../locks/thread-lock-manager.js').ThreadLockManager>} */
    async locks() {
        this.#core.assertOpen();
        return this.#locks.get();
    }

    /** Implements SharedMemory.storage(). @param {{ quota_bytes?: number }} [options] */
    async storage(options = {}) {
        const { quota_bytes } = checkOptions(options, ['quota_bytes']);
        const quota =
            quota_bytes === undefined
                ? undefined
                : checkInteger('quota_bytes', quota_bytes, 0, quotaMax_bytes);
        this.#core.assertOpen();
        this.#quota_bytes ??= quota;
        const { storage, quota_bytes: has } = await this.#storage.get();
        if (quota === undefined || quota === has) return storage;
        throw new TabacusError(
            'kind-mismatch',
            `the storage has a quota of ${has} bytes already, not ${show(quota)}`,
            {
                argument: 'quota_bytes',
                value: quota,
                allowed: String(has),
            },
        );
    }
}

/** @type {WeakMap<import('../thread-core.js').ThreadCore, ThreadSegments>} */
const known = new WeakMap();

/**
 * Returns the segments of a thread.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {import('../shared-memory.js').SharedMemory} shared
 * @returns {ThreadSegments} the same object for the same thread
 */
export function segmentsOf(core, shared) {
    const segments = known.get(core) ?? new ThreadSegments(core, shared);
    known.set(core, segments);
    return segments;
}
