/** The page's part in rooms (segment.hpp): it makes them when a thread wants one, and hears who has died. */

import { watch } from '../exit/worker-exit.web.js';
import { arenaFields, lineBytes } from '../arena-layout.js';
import { mirrored } from '../storage/mirror.js';
import { doorFields, doors, memberFields, membersMax, noPage, noRoom, roomFields } from './segment-layout.js';
import { refuseRooms } from './refuse-segments.js';
import { instantiateStore, lifeOf } from './segment.js';
import { StorageArea } from '../storage/storage-area.js';
import { sleepAsync } from '../waiting.js';

/** What Chromium's localStorage takes: 5 Mi units. */
const quotaDefault_bytes = 10 * 2 ** 20;

/** @typedef {'storage' | 'locks'} Kind */

/** A room's name, for its threads' signs of life. @returns {[number, number]} */
const life = () =>
    /** @type {[number, number]} */ (/** @type {unknown} */ (crypto.getRandomValues(new Uint32Array(2))));

/** What the main module's C++ side offers for it. @typedef {{ _room_take: (bytes: number) => number }} Ground */

class Rooms {
    #core;
    #ground;
    #ops;

    /**
     * @param {import('../thread-core.js').Core} core
     * @param {Ground} ground
     * @param {import('./segment.js').StoreOps} ops
     */
    constructor(core, ground, ops) {
        this.#core = core;
        this.#ground = ground;
        this.#ops = ops;
    }

    /** For as long as the memory is open. */
    async serve() {
        const { words, root } = this.#core;
        const wanted = (root + arenaFields.wanted) >> 2;
        while (!this.#core.closed) {
            const seen = Atomics.load(words, wanted);
            this.#open('storage');
            this.#open('locks');
            await sleepAsync(words, wanted, seen, Infinity, this.#core.ending);
        }
    }

    /** @param {Kind} kind */
    #open(kind) {
        const { words, root } = this.#core;
        const at = (root + doors[kind]) >> 2;
        const word = at + (doorFields.room >> 2);
        if (Atomics.load(words, at + (doorFields.wanted >> 2)) === 0 || Atomics.load(words, word) !== 0)
            return;
        const room =
            kind === 'locks'
                ? this.#makeLocks()
                : this.#makeStorage(Number(words[at + (doorFields.quota >> 2)]));
        Atomics.store(words, word, room === 0 ? noRoom : room - root);
        Atomics.notify(words, word);
        if (room !== 0) void this.#watchAll(kind, room);
    }

    /** @param {number} asked 0, or the quota and 1 */
    #makeStorage(asked) {
        const quota_bytes = asked === 0 ? quotaDefault_bytes : asked - 1;
        const bytes = this.#ops.storage_room_bytes(quota_bytes);
        const at = this.#take(bytes);
        if (at === 0) return 0;
        const room = this.#ops.storage_make(at, bytes, quota_bytes, ...life());
        this.#core.mirror = mirrored(this.#core, room, new StorageArea(this.#core, this.#ops, room));
        return room;
    }

    #makeLocks() {
        const at = this.#take(this.#ops.locks_room_bytes());
        return at === 0 ? 0 : this.#ops.locks_make(at, ...life());
    }

    /** @param {number} bytes @returns {number} where lines begin; 0 if there is no room */
    #take(bytes) {
        const taken = this.#ground._room_take(bytes + lineBytes);
        return Math.ceil(taken / lineBytes) * lineBytes;
    }

    /**
     * @param {Kind} kind
     * @param {number} room
     */
    async #watchAll(kind, room) {
        const { words } = this.#core;
        const joined = (room + roomFields.joined) >> 2;
        /** Threads whose death will be told, and how to be told no more. @type {Map<number, () => void>} */
        let watched = new Map();
        while (!this.#core.closed) {
            const seen = Atomics.load(words, joined);
            const here = new Map(
                this.#members(room).map(([id, thread]) => [
                    id,
                    watched.get(id) ?? this.#watch(kind, room, id, thread),
                ]),
            );
            for (const [id, forget] of watched) if (!here.has(id)) forget();
            watched = here;
            await sleepAsync(words, joined, seen, Infinity, this.#core.ending);
        }
    }

    /**
     * The others that work there, by id and thread.
     *
     * @param {number} room
     * @returns {[number, number][]}
     */
    #members(room) {
        const { words, id } = this.#core;
        const all = Array.from(
            { length: membersMax },
            (_, i) => (room + roomFields.members + i * memberFields.end) >> 2,
        );
        return all
            .map(
                (at) =>
                    /** @type {[number, number]} */ ([
                        Atomics.load(words, at),
                        Atomics.load(words, at + (memberFields.thread >> 2)),
                    ]),
            )
            .filter(([member]) => member > 0 && member !== id); // 0: nobody; below: is being written
    }

    /**
     * @param {Kind} kind
     * @param {number} room
     * @param {number} dead who will be
     * @param {number} thread
     * @returns {() => void} watches no more
     */
    #watch(kind, room, dead, thread) {
        const { words, id, maySleep } = this.#core;
        const bury = () =>
            this.#core.closed ||
            /** @type {any} */ (this.#ops)[`${kind}_bury`](room, dead, id, maySleep ? 1 : 0);
        // Node goes by the thread, and browsers by the room.
        return (
            /** @type {(...given: any[]) => (() => void) | void} */ (watch)(
                lifeOf(words, room),
                dead,
                bury,
                thread,
            ) ?? (() => {})
        );
    }
}

/**
 * Rejects if it cannot begin, and may be called again.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {Ground} ground
 */
export async function serveRooms(core, ground) {
    const ops = core.closed ? undefined : await instantiateStore(core);
    // Who wants a room that nobody will make is told.
    const refuse = () => refuseRooms(core, noPage);
    core.ending.addEventListener('abort', refuse);
    if (!ops || core.closed) refuse();
    else await new Rooms(core, ground, ops).serve();
}
