/** A thread's way into a room (segment.hpp): it asks the page for it, waits until it is made, and joins. */

import { TabacusError } from '../../common/errors.js';
import { live, threadNumber } from '../exit/worker-exit.web.js';
import { agentFields, arenaFields } from '../arena-layout.js';
import { doorFields, noModule, noPage, noRoom, roomFields } from './segment-layout.js';
import { storeModule } from '../wasm/store-wasm.web.js';
import { orAborted, sleepAsync } from '../waiting.js';

/**
 * The exports of wasm/src/store/store_abi.hpp.
 *
 * @typedef {object} StoreOps
 * @property {(quotaBytes: number) => number} storage_room_bytes
 * @property {(at: number, bytes: number, quotaBytes: number, life0: number, life1: number) => number} storage_make
 * @property {(room: number, self: number, thread: number) => number} storage_join
 * @property {(room: number, dead: number, self: number) => void} storage_bury
 * @property {(room: number, self: number, maySleep: number) => number} storage_enter
 * @property {(room: number, self: number) => void} storage_leave
 * @property {(room: number, self: number) => number} storage_inside
 * @property {(room: number, units: number) => number} storage_text
 * @property {(room: number, text: number) => void} storage_give
 * @property {(room: number, key: number) => number} storage_find
 * @property {(room: number, writer: number, key: number, value: number) => number} storage_set
 * @property {(room: number, writer: number, key: number) => number} storage_remove
 * @property {(room: number, writer: number) => number} storage_clear
 * @property {(room: number) => void} storage_listen
 * @property {(room: number, number: number) => number} storage_change
 * @property {(room: number) => number} storage_count
 * @property {(room: number) => number} storage_quota
 * @property {(room: number) => number} storage_occupied
 * @property {() => number} locks_room_bytes
 * @property {(at: number, life0: number, life1: number) => number} locks_make
 * @property {(room: number, self: number, thread: number) => number} locks_join
 * @property {(room: number, dead: number, self: number, maySleep: number) => void} locks_bury
 * @property {(room: number, self: number, maySleep: number) => number} locks_enter
 * @property {(room: number, self: number) => void} locks_leave
 * @property {(room: number, self: number) => number} locks_inside
 * @property {(room: number) => number} locks_occupied
 * @property {(room: number, units: number) => number} locks_text
 * @property {(room: number, client: number, name: number, mode: number, how: number) => number} locks_request
 * @property {(room: number, request: number) => void} locks_release
 * @property {(room: number, request: number) => number} locks_abort
 */

/**
 * store.wasm over this thread's memory.
 *
 * @param {import('../thread-core.js').Core} core
 * @returns {Promise<StoreOps>}
 */
export async function instantiateStore({ memory, agent }) {
    try {
        const { exports } = await WebAssembly.instantiate(await storeModule(), { env: { memory } });
        // The stack is in the agent's block; nothing there calls into the thread's other module.
        const stackPointer = /** @type {WebAssembly.Global} */ (exports.__stack_pointer);
        stackPointer.value = agent + agentFields.end;
        return /** @type {any} */ (exports);
    } catch (cause) {
        throw new TabacusError(
            'unavailable',
            'store.wasm is not beside the package’s modules: copy it there',
            { cause },
        );
    }
}

/**
 * The address of the room behind a door, once the page has made it.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {number} door
 * @param {number} [quota_bytes]
 */
export async function roomBehind(core, door, quota_bytes) {
    const { words, root } = core;
    const at = (root + door) >> 2;
    const room = at + (doorFields.room >> 2);
    if (quota_bytes !== undefined)
        Atomics.compareExchange(words, at + (doorFields.quota >> 2), 0, quota_bytes + 1);
    const again = Atomics.compareExchange(words, room, noModule, 0) === noModule;
    if (Atomics.exchange(words, at + (doorFields.wanted >> 2), 1) === 0 || again) {
        const wanted = (root + arenaFields.wanted) >> 2;
        Atomics.add(words, wanted, 1);
        Atomics.notify(words, wanted);
    }
    let made;
    while ((made = Atomics.load(words, room)) === 0) await orAborted(sleepAsync(words, room, 0), core.ending);
    core.assertOpen();
    if (made === noPage)
        throw new TabacusError(
            'unavailable',
            'the page that made the memory makes no room for it: it has closed it',
        );
    if (made === noModule) {
        throw new TabacusError(
            'unavailable',
            'the page that made the memory could not load what makes a room for it: ask again',
        );
    }
    if (made === noRoom) throw new TabacusError('out-of-memory', 'the shared memory has no room for it');
    return root + made;
}

/**
 * What the Web Locks begin with that are the signs of life of a room's threads.
 *
 * @param {Int32Array} words
 * @param {number} room
 */
export function lifeOf(words, room) {
    const [one, other] = words.subarray((room + roomFields.life) >> 2);
    return `tabacus/room/${Number(one) >>> 0}-${Number(other) >>> 0}`;
}

/**
 * From here on the page knows when this thread dies, as far as the platform tells.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {StoreOps} ops
 * @param {'storage' | 'locks'} kind
 * @param {number} room
 */
export async function join(core, ops, kind, room) {
    const die = await live(lifeOf(core.words, room), core.id);
    if (core.closed) die?.();
    core.assertOpen();
    /** @type {any} */ (ops)[`${kind}_join`](room, core.id, threadNumber());
    core.ending.addEventListener('abort', () => {
        /** @type {any} */ (ops)[`${kind}_bury`](room, core.id, core.id, core.maySleep ? 1 : 0);
        die?.();
    });
}
