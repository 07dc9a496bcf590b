/**
 * Opens a segment (segment.hpp) for a thread: requests it from the page, waits until the page has made it,
 * and joins it.
 */

import { TabacusError } from '../../common/errors.js';
import { startFailure } from '../../core/compile-wasm.js';
import { holdLivenessLock, threadNumber } from '../exit/worker-exit.web.js';
import { agentFields, arenaFields } from '../arena-layout.js';
import { slotFields, noModule, noPage, noMemory, segmentFields } from './segment-layout.js';
import { storeModule } from '../wasm/store-wasm.js';
import { orAborted, sleepAsync } from '../waiting.js';

/**
 * The exports of wasm/src/store/store_abi.hpp.
 *
 * @typedef {object} StoreOps
 * @property {(quotaBytes: number) => number} storage_segment_bytes
 * @property {(at: number, bytes: number, quotaBytes: number, id0: number, id1: number) => number} storage_make
 * @property {(segment: number, self: number, thread: number) => number} storage_join
 * @property {(segment: number, exited: number, self: number) => void} storage_exit
 * @property {(segment: number, self: number, maySleep: number) => number} storage_enter
 * @property {(segment: number, self: number) => void} storage_leave
 * @property {(segment: number, self: number) => number} storage_inside
 * @property {(segment: number, units: number) => number} storage_text
 * @property {(segment: number, text: number) => void} storage_free
 * @property {(segment: number, key: number) => number} storage_find
 * @property {(segment: number, writer: number, key: number, value: number) => number} storage_set
 * @property {(segment: number, writer: number, key: number) => number} storage_remove
 * @property {(segment: number, writer: number) => number} storage_clear
 * @property {(segment: number) => void} storage_listen
 * @property {(segment: number, number: number) => number} storage_change
 * @property {(segment: number) => number} storage_count
 * @property {(segment: number) => number} storage_quota
 * @property {(segment: number) => number} storage_occupied
 * @property {() => number} locks_segment_bytes
 * @property {(at: number, id0: number, id1: number) => number} locks_make
 * @property {(segment: number, self: number, thread: number) => number} locks_join
 * @property {(segment: number, exited: number, self: number, maySleep: number) => void} locks_exit
 * @property {(segment: number, self: number, maySleep: number) => number} locks_enter
 * @property {(segment: number, self: number) => void} locks_leave
 * @property {(segment: number, self: number) => number} locks_inside
 * @property {(segment: number) => number} locks_occupied
 * @property {(segment: number, units: number) => number} locks_text
 * @property {(segment: number, client: number, name: number, mode: number, how: number) => number} locks_request
 * @property {(segment: number, request: number) => void} locks_release
 * @property {(segment: number, request: number) => number} locks_abort
 */

/**
 * Instantiates store.wasm with this thread's memory.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @returns {Promise<StoreOps>}
 */
export async function instantiateStore({ memory, agent }) {
    const module = await storeModule();
    try {
        const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
        // Both modules of the thread use the stack in the agent's block. They can, because neither calls the
        // other.
        const stackPointer = /** @type {WebAssembly.Global} */ (exports.__stack_pointer);
        stackPointer.value = agent + agentFields.end;
        return /** @type {any} */ (exports);
    } catch (cause) {
        throw startFailure({ what: 'store.wasm' }, cause);
    }
}

/**
 * Requests the segment of a slot, and resolves with its address once the page has made it.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {number} slot
 * @param {number} [quota_bytes]
 */
export async function openSegment(core, slot, quota_bytes) {
    const { words, root } = core;
    const at = (root + slot) >> 2;
    const segment = at + (slotFields.segment >> 2);
    if (quota_bytes !== undefined)
        Atomics.compareExchange(words, at + (slotFields.quota >> 2), 0, quota_bytes + 1);
    const again = Atomics.compareExchange(words, segment, noModule, 0) === noModule;
    if (Atomics.exchange(words, at + (slotFields.wanted >> 2), 1) === 0 || again) {
        const wanted = (root + arenaFields.wanted) >> 2;
        Atomics.add(words, wanted, 1);
        Atomics.notify(words, wanted);
    }
    let made;
    while ((made = Atomics.load(words, segment)) === 0)
        await orAborted(sleepAsync(words, segment, 0), core.ending);
    core.assertOpen();
    if (made === noPage)
        throw new TabacusError(
            'unavailable',
            'the page has closed this memory, and makes no storage or locks in it',
        );
    if (made === noModule) {
        throw new TabacusError(
            'unavailable',
            'the page could not load what makes shared storage and locks: call again',
        );
    }
    if (made === noMemory) throw new TabacusError('out-of-memory', 'the shared memory has no space for it');
    return root + made;
}

/**
 * Returns the prefix of the names of the liveness locks of a segment's threads.
 *
 * @param {Int32Array} words
 * @param {number} segment
 */
export function livenessPrefix(words, segment) {
    const [one, other] = words.subarray((segment + segmentFields.id) >> 2);
    return `tabacus/room/${Number(one) >>> 0}-${Number(other) >>> 0}`;
}

/**
 * Joins a segment: from then on the page learns when this thread exits, as far as the platform reports that.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {StoreOps} ops
 * @param {'storage' | 'locks'} kind
 * @param {number} segment
 */
export async function joinSegment(core, ops, kind, segment) {
    const release = await holdLivenessLock(livenessPrefix(core.words, segment), core.id);
    if (core.closed) release?.();
    core.assertOpen();
    /** @type {any} */ (ops)[`${kind}_join`](segment, core.id, threadNumber());
    core.ending.addEventListener('abort', () => {
        /** @type {any} */ (ops)[`${kind}_exit`](segment, core.id, core.id, core.maySleep ? 1 : 0);
        release?.();
    });
}
