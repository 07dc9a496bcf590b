/** `shared.storage()`: one Storage object a thread, and the events of what the others change. */

import { storageEventInterface } from '../../platform/events.js';
import { makeStorage, storageInterface } from '../../platform/storage-interface.js';
import { segmentSlots } from '../segment/segment-layout.js';
import { joinSegment, openSegment } from '../segment/open-segment.js';
import { StorageArea } from './storage-area.js';
import { nextMacrotask } from '../../common/macrotask.js';
import { sleepAsync } from '../waiting.js';

const SharedStorage = /* @__PURE__ */ storageInterface();
const SharedStorageEvent = /* @__PURE__ */ storageEventInterface();

/** A Worker's global object, which is a target of events as a window is. */
const workerScope = () => {
    const { WorkerGlobalScope } = /** @type {any} */ (globalThis);
    return WorkerGlobalScope && globalThis instanceof WorkerGlobalScope
        ? /** @type {EventTarget} */ (globalThis)
        : undefined;
};

export class ThreadStorage {
    #core;
    #targets;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {StorageArea} area
     * @param {import('../shared-memory.js').SharedMemory} shared where its events go
     * @param {number} quota_bytes
     */
    constructor(core, area, shared, quota_bytes) {
        this.#core = core;
        this.area = area;
        this.quota_bytes = quota_bytes;
        this.storage = makeStorage(area, SharedStorage);
        area.onWrite = () => core.mirror?.push();
        this.#targets = [shared, workerScope()];
        area.seen = area.listen();
        void this.#listen();
    }

    /** As long as the attachment is open. */
    async #listen() {
        const { words, id, ending } = this.#core;
        for (;;) {
            await sleepAsync(words, this.area.latestWord, Number(this.area.seen), Infinity, ending);
            await this.area.unoccupied();
            if (this.#core.closed) return;
            const { changes, last } = this.area.changes(Number(this.area.seen), id);
            this.area.seen = last;
            // What was missed may be anything: an event without a key, as after clear().
            for (const change of changes ?? [{ key: null, oldValue: null, newValue: null }])
                this.#dispatch(change);
            if (last !== this.area.latest) await nextMacrotask();
        }
    }

    /** @param {import('./storage-area.js').Change} change */
    #dispatch(change) {
        for (const target of this.#targets) {
            target?.dispatchEvent(
                new SharedStorageEvent('storage', { ...change, storageArea: this.storage }),
            );
        }
    }
}

/**
 * Opens the storage, which has the quota that the first thread asked for.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {import('../segment/open-segment.js').StoreOps} ops
 * @param {import('../shared-memory.js').SharedMemory} shared
 * @param {number} [quota_bytes]
 */
export async function openStorage(core, ops, shared, quota_bytes) {
    const segment = await openSegment(core, segmentSlots.storage, quota_bytes);
    await joinSegment(core, ops, 'storage', segment);
    const area = new StorageArea(core, ops, segment);
    return new ThreadStorage(core, area, shared, ops.storage_quota(segment));
}
