/** What a thread loads with the first storage or lock that it shares. */

import { idlInterface } from '../../platform/web-idl.js';
import { show, TabacusError } from '../../common/errors.js';
import { checkInteger, checkOptions } from '../../common/check-arguments.js';
import { Loaded } from '../../common/lazy.js';
import { openLocks } from '../locks/shared-locks.js';
import { instantiateStore } from './segment.js';
import { openStorage } from '../storage/shared-storage.js';

/** The memory of a page has 32 MiB in all. */
const quotaMax_bytes = 2 ** 24;

class Parts {
    #core;
    #ops;
    #storage;
    #locks;

    /** What the first call asked for. @type {number | undefined} */
    #quota_bytes;

    /**
     * @param {import('../thread-core.js').Core} core
     * @param {import('../shared-memory.js').SharedMemory} shared
     */
    constructor(core, shared) {
        // What a platform's interface has that a class has not: for who looks.
        idlInterface(/** @type {any} */ (shared.locks).constructor, 'LockManager');
        this.#core = core;
        this.#ops = new Loaded(() => instantiateStore(core));
        this.#storage = new Loaded(async () =>
            openStorage(core, await this.#ops.get(), shared, this.#quota_bytes),
        );
        this.#locks = new Loaded(async () => openLocks(core, await this.#ops.get()));
    }

    /** @returns {Promise<import('../locks/shared-locks.js').OpenLocks>} */
    async locks() {
        this.#core.assertOpen();
        return this.#locks.get();
    }

    /** @param {{ quota_bytes?: number }} [options] */
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

/** @type {WeakMap<import('../thread-core.js').Core, Parts>} */
const known = new WeakMap();

/**
 * @param {import('../thread-core.js').Core} core
 * @param {import('../shared-memory.js').SharedMemory} shared
 * @returns {Parts} the same one for the same thread
 */
export function partsOf(core, shared) {
    const parts = known.get(core) ?? new Parts(core, shared);
    known.set(core, parts);
    return parts;
}
