/**
 * The page's part in segments (segment.hpp): it makes the segments that threads request, and watches for
 * exits of threads.
 */

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

/** The default quota: the same as that of Chromium's localStorage, 5 Mi UTF-16 units. */
const quotaDefault_bytes = 10 * 2 ** 20;

/** @typedef {'storage' | 'locks'} Kind */

/**
 * Makes the id of a segment, which is part of the names of its threads' liveness locks.
 *
 * @returns {[number, number]}
 */
const newId = () =>
    /** @type {[number, number]} */ (/** @type {unknown} */ (crypto.getRandomValues(new Uint32Array(2))));

/** The part of the program that allocates memory for segments. @typedef {Pick<import('../cpp-program.js').CppProgram, 'allocate'>} SegmentAllocator */

/** Makes segments, and watches their threads. */
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

    /** Makes segments on request, until the memory is closed. */
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

    /** Makes a segment, if a thread has requested it and it is not made. @param {Kind} kind */
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

    /**
     * Makes the segment of the storage.
     *
     * @param {number} asked the quota in bytes plus 1; 0 for the default
     */
    #makeStorage(asked) {
        const quota_bytes = asked === 0 ? quotaDefault_bytes : asked - 1;
        const bytes = this.#ops.storage_segment_bytes(quota_bytes);
        const at = this.#allocate(bytes);
        if (at === 0) return 0;
        const segment = this.#ops.storage_make(at, bytes, quota_bytes, ...newId());
        this.#core.mirror = startMirror(this.#core, segment, new StorageArea(this.#core, this.#ops, segment));
        return segment;
    }

    /** Makes the segment of the locks. */
    #makeLocks() {
        const at = this.#allocate(this.#ops.locks_segment_bytes());
        return at === 0 ? 0 : this.#ops.locks_make(at, ...newId());
    }

    /**
     * Allocates memory that begins with a cache line.
     *
     * @param {number} bytes
     * @returns {number} 0 if there is no memory
     */
    #allocate(bytes) {
        const taken = this.#allocator.allocate(bytes + lineBytes);
        return Math.ceil(taken / lineBytes) * lineBytes;
    }

    /**
     * Watches the threads of a segment for their exits, until the memory is closed.
     *
     * @param {Kind} kind
     * @param {number} segment
     */
    async #watchAll(kind, segment) {
        const { words } = this.#core;
        const joined = (segment + segmentFields.joined) >> 2;
        /** The watched threads, each with a function that ends the watch. @type {Map<number, () => void>} */
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
     * Returns the other threads that have joined a segment: for each its id and the platform's number.
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
            .filter(([member]) => member > 0 && member !== id); // 0: empty; negative: being written
    }

    /**
     * Watches a thread for its exit, and reports the exit to the segment, which repairs what the thread has
     * left undone.
     *
     * @param {Kind} kind
     * @param {number} segment
     * @param {number} member the id of the thread
     * @param {number} thread the platform's number of the thread
     * @returns {() => void} stops watching
     */
    #watch(kind, segment, member, thread) {
        const { words, id, maySleep } = this.#core;
        const reportExit = () =>
            this.#core.closed ||
            /** @type {any} */ (this.#ops)[`${kind}_exit`](segment, member, id, maySleep ? 1 : 0);
        // Node identifies a thread by its number. Browsers identify it by its liveness lock, which the
        // segment's id names.
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
 * Makes segments on request until the memory is closed. Rejects if it cannot begin; it may then be called
 * again.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {SegmentAllocator} allocator
 */
export async function serveSegments(core, allocator) {
    const ops = core.closed ? undefined : await instantiateStore(core);
    // When the memory is closed, no segment is made any more: threads that request one get an error.
    const refuse = () => refuseSegments(core, noPage);
    core.ending.addEventListener('abort', refuse);
    if (!ops || core.closed) refuse();
    else await new SegmentServer(core, allocator, ops).serve();
}
