/** `shared.storage()`: the Storage object of a thread, and the events of changes that others make. */

import { storageEventInterface } from '../../platform/events.js';
import { makeStorage, storageInterface } from '../../platform/storage-interface.js';
import { segmentSlots } from '../segment/segment-layout.js';
import { joinSegment, openSegment } from '../segment/open-segment.js';
import { StorageArea } from './storage-area.js';
import { nextMacrotask } from '../../common/macrotask.js';
import { sleepAsync } from '../waiting.js';

const SharedStorage = /* @__PURE__ */ storageInterface();
const SharedStorageEvent = /* @__PURE__ */ storageEventInterface();

/** Returns the global object of a Worker, which gets storage events as a window does; undefined elsewhere. */
const workerScope = () => {
    const { WorkerGlobalScope } = /** @type {any} */ (globalThis);
    return WorkerGlobalScope && globalThis instanceof WorkerGlobalScope
        ? /** @type {EventTarget} */ (globalThis)
        : undefined;
};

/** A thread's Storage object, with the dispatch of its events. */
export class ThreadStorage {
    #core;
    #targets;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {StorageArea} area
     * @param {import('../shared-memory.js').SharedMemory} shared a target of its events
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

    /** Dispatches the events of changes by others, until the attachment is closed. */
    async #listen() {
        const { words, id, ending } = this.#core;
        for (;;) {
            await sleepAsync(words, this.area.latestWord, Number(this.area.seen), Infinity, ending);
            await this.area.unoccupied();
            if (this.#core.closed) return;
            const { changes, last } = this.area.changes(Number(this.area.seen), id);
            this.area.seen = last;
            // If changes were missed, any key may have changed. An event without a key reports that, as after
            // clear().
            for (const change of changes ?? [{ key: null, oldValue: null, newValue: null }])
                this.#dispatch(change);
            if (last !== this.area.latest) await nextMacrotask();
        }
    }

    /** Dispatches the event of a change. @param {import('./storage-area.js').Change} change */
    #dispatch(change) {
        for (const target of this.#targets) {
            target?.dispatchEvent(
                new SharedStorageEvent('storage', { ...change, storageArea: this.storage }),
            );
        }
    }
}

/**
 * Opens the storage for this thread. Its quota is the one that the first thread has chosen.
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
