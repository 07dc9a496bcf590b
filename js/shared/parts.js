/** What a thread loads with the first storage or lock that it shares. */

import { show, TabacusError } from '../errors.js';
import { instantiateStore } from './room.js';
import { openStorage } from './storage.js';

export class Parts {
    #core;
    #ops;
    #shared;

    /** @type {Promise<import('./storage.js').OpenStorage> | undefined} */
    #opening;

    /** @type {import('./storage.js').OpenStorage | undefined} */
    opened;

    /**
     * @param {import('./core.js').Core} core
     * @param {import('./room.js').StoreOps} ops
     * @param {EventTarget} shared
     */
    constructor(core, ops, shared) {
        this.#core = core;
        this.#ops = ops;
        this.#shared = shared;
    }

    /**
     * @param {number | undefined} quota_bytes
     * @returns {Promise<Storage>}
     */
    async storage(quota_bytes) {
        this.#opening ??= openStorage(this.#core, this.#ops, this.#shared, quota_bytes);
        try {
            this.opened = await this.#opening;
        } catch (error) {
            this.#opening = undefined;
            throw error;
        }
        const { storage, quota_bytes: has } = this.opened;
        if (quota_bytes === undefined || quota_bytes === has) return storage;
        throw new TabacusError('kind-mismatch', `the storage has a quota of ${has} bytes already, not ${show(quota_bytes)}`, {
            argument: 'quota_bytes',
            value: quota_bytes,
            allowed: String(has),
        });
    }
}

/**
 * @param {import('./core.js').Core} core
 * @param {EventTarget} shared
 */
export const loadParts = async (core, shared) => new Parts(core, await instantiateStore(core), shared);
