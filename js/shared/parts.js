/** What a thread loads with the first storage or lock that it shares. */

import { show, TabacusError } from '../errors.js';
import { checkInteger, checkOptions } from './check.js';
import { Loaded } from './loaded.js';
import { openLocks } from './locks.js';
import { instantiateStore } from './room.js';
import { openStorage } from './storage.js';

/** The memory of a page has 32 MiB in all. */
const quotaMax_bytes = 2 ** 24;

export class Parts {
    #core;
    #ops;
    #storage;
    #locks;

    /** What the first call asked for. @type {number | undefined} */
    #quota_bytes;

    /** @type {import('./storage.js').OpenStorage | undefined} */
    #opened;

    /**
     * @param {import('./core.js').Core} core
     * @param {EventTarget} shared
     */
    constructor(core, shared) {
        this.#core = core;
        this.#ops = new Loaded(() => instantiateStore(core));
        this.#storage = new Loaded(async () => openStorage(core, await this.#ops.get(), shared, this.#quota_bytes));
        this.#locks = new Loaded(async () => openLocks(core, await this.#ops.get()));
    }

    /** @returns {Promise<import('./locks.js').OpenLocks>} */
    async locks() {
        this.#core.assertOpen();
        return this.#locks.get();
    }

    /** @param {{ quota_bytes?: number }} [options] */
    async storage(options = {}) {
        const { quota_bytes } = checkOptions(options, ['quota_bytes']);
        const quota = quota_bytes === undefined ? undefined : checkInteger('quota_bytes', quota_bytes, 0, quotaMax_bytes);
        this.#core.assertOpen();
        this.#quota_bytes ??= quota;
        this.#opened = await this.#storage.get();
        const { storage, quota_bytes: has } = this.#opened;
        if (quota === undefined || quota === has) return storage;
        throw new TabacusError('kind-mismatch', `the storage has a quota of ${has} bytes already, not ${show(quota)}`, {
            argument: 'quota_bytes',
            value: quota,
            allowed: String(has),
        });
    }

    /** How localStorage stands to the storage. */
    get mirror() {
        return this.#opened?.mirror;
    }
}
