/**
 * `shared.locks`: the Web Locks API (W3C, §3 and §4) for threads. The requests are in shared memory
 * (shared_lock_table.hpp).
 */

import { checkRequest, invoked, requestFrom, stolenMessage } from '../../platform/lock-request.js';
import { internal } from '../../platform/web-idl.js';
import { lockInterface } from '../../platform/lock-manager.js';
import { TabacusError } from '../../common/errors.js';
import {
    blockBytes,
    segmentSlots,
    lockHow,
    lockModes,
    lockStates,
    noRequest,
    notAvailable,
    requestFields,
    segmentFields,
} from '../segment/segment-layout.js';
import { joinSegment, livenessPrefix, openSegment } from '../segment/open-segment.js';
import { nextMacrotask } from '../../common/macrotask.js';
import { Texts } from '../segment/texts.js';
import { sleepAsync } from '../waiting.js';

/** @typedef {{ name: string, mode: 'exclusive' | 'shared', clientId: string }} LockInfo */

const SharedLock = /* @__PURE__ */ lockInterface();

/**
 * Returns the longest sleep on the word of a request. Without `Atomics.waitAsync` no sleep is notified, and
 * the word of a freed request may never change: so sleeps are limited there.
 */
const sleepMax_ms = () => ('waitAsync' in Atomics ? Infinity : 1000);

/**
 * A request, from the call of request() until its promise is settled.
 *
 * @typedef {object} Request
 * @property {string} name
 * @property {import('../../platform/lock-request.js').RequestOptions} options
 * @property {(lock: object | null) => unknown} callback
 * @property {(value: any) => void} resolve
 * @property {(reason: any) => void} reject
 * @property {number} block its block in the segment; 0 before it has one, and after that is freed
 */

/** The locks of one thread. */
export class ThreadLockManager {
    #core;
    #ops;
    #segment;
    #texts;

    /** @type {Set<Request>} */
    #requests = new Set();

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {import('../segment/open-segment.js').StoreOps} ops
     * @param {number} segment
     */
    constructor(core, ops, segment) {
        this.#core = core;
        this.#ops = ops;
        this.#segment = segment;
        this.#texts = new Texts(core, segment);
        core.ending.addEventListener('abort', () => this.#end());
    }

    /**
     * Implements LockManager.request() (§3.2.1).
     *
     * @param {ArrayLike<any>} given its arguments
     * @returns {Promise<unknown>}
     */
    request(given) {
        const { name, options, callback } = requestFrom(given);
        this.#core.assertOpen();
        checkRequest(name, options);
        return new Promise((resolve, reject) => {
            const request = { name, options, callback, resolve, reject, block: 0 };
            this.#requests.add(request);
            this.#ask(request).catch((error) => this.#forget(request, () => reject(error)));
        });
    }

    /** Implements LockManager.query() (§3.2.2). @returns {{ held: LockInfo[], pending: LockInfo[] }} */
    query() {
        this.#core.assertOpen();
        return this.#inside(() => {
            const all = [...this.#infos()];
            const of = (/** @type {number} */ wanted) =>
                all.filter(([state]) => state === wanted).map(([, info]) => info);
            return { held: of(lockStates.held), pending: of(lockStates.pending) };
        });
    }

    /**
     * Reads all requests of all threads. Requires that this thread is inside.
     *
     * @returns {Generator<[number, LockInfo]>} state and description
     */
    *#infos() {
        const word = (/** @type {number} */ block, /** @type {number} */ field) =>
            this.#texts.word(block, field);
        const prefix = livenessPrefix(this.#core.words, this.#segment);
        let block = Number(this.#core.words[(this.#segment + segmentFields.first) >> 2]);
        for (; block !== 0; block = word(block, requestFields.next)) {
            const clientId = `${prefix}/${word(block, requestFields.client)}`;
            const mode = lockModes[word(block, requestFields.mode)] ?? 'exclusive';
            yield [
                word(block, requestFields.state),
                { name: this.#texts.read(word(block, requestFields.name)), mode, clientId },
            ];
        }
    }

    /** Requests a lock (§4.1), waits for the grant, and runs the callback. @param {Request} request */
    async #ask(request) {
        const { options } = request;
        const block = this.#enqueue(request);
        if (block === notAvailable) {
            await nextMacrotask();
            this.#core.assertOpen();
            this.#forget(request, () => request.resolve(invoked(request.callback, null)));
            return;
        }
        request.block = block;
        const abort = () => this.#abort(request);
        options.signal?.addEventListener('abort', abort);
        while (request.block !== 0 && this.#state(block) === lockStates.pending) {
            await sleepAsync(this.#core.words, this.#wordOf(block), lockStates.pending, sleepMax_ms());
        }
        // §4.4: the callback is invoked in a task, unless the request was aborted meanwhile.
        await nextMacrotask();
        options.signal?.removeEventListener('abort', abort);
        if (request.block !== 0) await this.#hold(request, block);
    }

    /**
     * Adds a request to the segment.
     *
     * @param {Request} request
     * @returns {number} its block, or `notAvailable`
     */
    #enqueue({ name, options: { mode, ifAvailable, steal } }) {
        const how = steal ? lockHow.steal : ifAvailable ? lockHow.ifAvailable : lockHow.wait;
        const { id } = this.#core;
        const block = this.#inside(() => {
            const text = this.#ops.locks_text(this.#segment, name.length);
            if (text === 0) return noRequest;
            this.#texts.write(text, name);
            if (!this.#ops.locks_inside(this.#segment, id))
                throw new TabacusError('lock-lost', 'this thread stopped, and was presumed dead');
            return this.#ops.locks_request(this.#segment, id, text, lockModes.indexOf(mode), how) >>> 0;
        });
        if (block === noRequest)
            throw new TabacusError(
                'out-of-memory',
                'the shared memory has no space for another lock request',
            );
        return block;
    }

    /**
     * Runs the callback, and releases the lock when the promise of the callback is settled.
     *
     * @param {Request} request
     * @param {number} block
     */
    async #hold(request, block) {
        void this.#rejectWhenStolen(request, block);
        const waiting = invoked(
            request.callback,
            new SharedLock(internal, request.name, request.options.mode),
        );
        await waiting.catch(() => {});
        if (this.#core.closed) return;
        // The lock is released before the promise is settled (§4.2). The segment decides whether the lock was
        // stolen before that, so that the order in which threads are woken does not matter.
        const stolen = this.#drop(request) === lockStates.stolen;
        this.#forget(request, () => (stolen ? this.#rejectStolen(request) : request.resolve(waiting)));
    }

    /**
     * Rejects the request as soon as its lock is stolen (§4.1).
     *
     * @param {Request} request
     * @param {number} block
     */
    async #rejectWhenStolen(request, block) {
        while (request.block !== 0 && this.#state(block) === lockStates.held) {
            await sleepAsync(
                this.#core.words,
                this.#wordOf(block),
                lockStates.held,
                sleepMax_ms(),
                this.#core.ending,
            );
        }
        if (request.block !== 0) this.#rejectStolen(request);
    }

    /** Rejects a request because its lock was stolen. @param {Request} request */
    #rejectStolen({ reject }) {
        reject(new DOMException(stolenMessage, 'AbortError'));
    }

    /** Aborts a request that waits (§4.3). Does nothing after close(). @param {Request} request */
    #abort(request) {
        if (request.block === 0) return;
        this.#drop(request);
        this.#forget(request, () => request.reject(request.options.signal?.reason));
    }

    /** Removes the request, waiting or held, from the segment. @param {Request} request @returns {number} its state before */
    #drop(request) {
        const { block } = request;
        request.block = 0;
        const state = this.#inside(() => {
            const before = this.#state(block);
            this.#ops.locks_release(this.#segment, block);
            return before;
        });
        Atomics.notify(this.#core.words, this.#wordOf(block)); // #rejectWhenStolen() may sleep on the word
        return state;
    }

    /** Settles a request, and forgets it. @param {Request} request @param {() => void} settle */
    #forget(request, settle) {
        this.#requests.delete(request);
        settle();
    }

    /** Rejects all requests, because the attachment is closed. Its locks are already released. */
    #end() {
        const { words, ending } = this.#core;
        for (const request of this.#requests) {
            const { block } = request;
            request.block = 0;
            if (block !== 0) Atomics.notify(words, this.#wordOf(block));
            request.reject(ending.reason);
        }
        this.#requests.clear();
    }

    /** Returns the index of the word with the state of a request. @param {number} block */
    #wordOf(block) {
        return (this.#segment + block * blockBytes + requestFields.state) >> 2;
    }

    /** Reads the state of a request. @param {number} block */
    #state(block) {
        return Atomics.load(this.#core.words, this.#wordOf(block));
    }

    /**
     * Calls `work` inside the segment, that is, under its mutex.
     *
     * @template T
     * @param {() => T} work
     * @returns {T}
     */
    #inside(work) {
        const { id, maySleep } = this.#core;
        this.#ops.locks_enter(this.#segment, id, maySleep ? 1 : 0);
        try {
            return work();
        } finally {
            this.#ops.locks_leave(this.#segment, id);
        }
    }
}

/**
 * Opens the locks of the memory for this thread.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {import('../segment/open-segment.js').StoreOps} ops
 */
export async function openLocks(core, ops) {
    const segment = await openSegment(core, segmentSlots.locks);
    await joinSegment(core, ops, 'locks', segment);
    return new ThreadLockManager(core, ops, segment);
}
