/** The page's part in segments (segment.hpp): it makes them when a thread wants one, and watches for exits of threads. */

import { watchExit } from '../exit/worker-exit.web.js';
import { arenaFields, lineBytes } from '../arena-layout.js';
import { startMirror } from '../storage/local-storage-mirror.js';
import {
    slotFields,
    segmentSlots,
    memberFields,
    membersMax,
    noPage,
    noMemory,
    segmentFields,
} from './segment-layout.js';
import { refuseSegments } from './refuse-segments.js';
import { instantiateStore, livenessPrefix } from './open-segment.js';
import { StorageArea } from '../storage/storage-area.js';
import { sleepAsync } from '../waiting.js';

/** What Chromium's localStorage takes: 5 Mi units. */
const quotaDefault_bytes = 10 * 2 ** 20;

/** @typedef {'storage' | 'locks'} Kind */

/** A segment's id, for the names of its threads' liveness locks. @returns {[number, number]} */
const newId = () =>
    /** @type {[number, number]} */ (/** @type {unknown} */ (crypto.getRandomValues(new Uint32Array(2))));

/** The program whose memory segments take. @typedef {Pick<import('../cpp-program.js').CppProgram, 'allocate'>} SegmentAllocator */

class SegmentServer {
    #core;
    #allocator;
    #ops;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {SegmentAllocator} allocator
     * @param {import('./open-segment.js').StoreOps} ops
     */
    constructor(core, allocator, ops) {
        this.#core = core;
        this.#allocator = allocator;
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
        const at = (root + segmentSlots[kind]) >> 2;
        const word = at + (slotFields.segment >> 2);
        if (Atomics.load(words, at + (slotFields.wanted >> 2)) === 0 || Atomics.load(words, word) !== 0)
            return;
        const segment =
            kind === 'locks'
                ? this.#makeLocks()
                : this.#makeStorage(Number(words[at + (slotFields.quota >> 2)]));
        Atomics.store(words, word, segment === 0 ? noMemory : segment - root);
        Atomics.notify(words, word);
        if (segment !== 0) void this.#watchAll(kind, segment);
    }

    /** @param {number} asked 0, or the quota and 1 */
    #makeStorage(asked) {
        const quota_bytes = asked === 0 ? quotaDefault_bytes : asked - 1;
        const bytes = this.#ops.storage_segment_bytes(quota_bytes);
        const at = this.#allocate(bytes);
        if (at === 0) return 0;
        const segment = this.#ops.storage_make(at, bytes, quota_bytes, ...newId());
        this.#core.mirror = startMirror(this.#core, segment, new StorageArea(this.#core, this.#ops, segment));
        return segment;
    }

    #makeLocks() {
        const at = this.#allocate(this.#ops.locks_segment_bytes());
        return at === 0 ? 0 : this.#ops.locks_make(at, ...newId());
    }

    /** @param {number} bytes @returns {number} where lines begin; 0 if there is no memory */
    #allocate(bytes) {
        const taken = this.#allocator.allocate(bytes + lineBytes);
        return Math.ceil(taken / lineBytes) * lineBytes;
    }

    /**
     * @param {Kind} kind
     * @param {number} segment
     */
    async #watchAll(kind, segment) {
        const { words } = this.#core;
        const joined = (segment + segmentFields.joined) >> 2;
        /** Threads that are watched, and how to stop watching each. @type {Map<number, () => void>} */
        let watched = new Map();
        while (!this.#core.closed) {
            const seen = Atomics.load(words, joined);
            const here = new Map(
                this.#members(segment).map(([id, thread]) => [
                    id,
                    watched.get(id) ?? this.#watch(kind, segment, id, thread),
                ]),
            );
            for (const [id, unwatch] of watched) if (!here.has(id)) unwatch();
            watched = here;
            await sleepAsync(words, joined, seen, Infinity, this.#core.ending);
        }
    }

    /**
     * The others that work there, by id and thread.
     *
     * @param {number} segment
     * @returns {[number, number][]}
     */
    #members(segment) {
        const { words, id } = this.#core;
        const all = Array.from(
            { length: membersMax },
            (_, i) => (segment + segmentFields.members + i * memberFields.end) >> 2,
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
     * @param {number} segment
     * @param {number} member
     * @param {number} thread
     * @returns {() => void} stops watching
     */
    #watch(kind, segment, member, thread) {
        const { words, id, maySleep } = this.#core;
        const reportExit = () =>
            this.#core.closed ||
            /** @type {any} */ (this.#ops)[`${kind}_exit`](segment, member, id, maySleep ? 1 : 0);
        // Node identifies a thread by its number, and browsers by the segment's id.
        return (
            /** @type {(...given: any[]) => (() => void) | void} */ (watchExit)(
                livenessPrefix(words, segment),
                member,
                reportExit,
                thread,
            ) ?? (() => {})
        );
    }
}

/**
 * Rejects if it cannot begin, and may be called again.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {SegmentAllocator} allocator
 */
export async function serveSegments(core, allocator) {
    const ops = core.closed ? undefined : await instantiateStore(core);
    // A thread that wants a segment which nobody will make gets an error.
    const refuse = () => refuseSegments(core, noPage);
    core.ending.addEventListener('abort', refuse);
    if (!ops || core.closed) refuse();
    else await new SegmentServer(core, allocator, ops).serve();
}
