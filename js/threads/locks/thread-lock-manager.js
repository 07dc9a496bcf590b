/** `shared.locks` (W3C Web Locks API §3 and §4) over the requests that threads share: shared_lock_table.hpp. */

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

/** How long to sleep on a request's word: without waitAsync nobody is woken, and that of a freed request may never change. */
const sleepMax_ms = () => ('waitAsync' in Atomics ? Infinity : 1000);

/**
 * A request, from request() until its promise is settled for good.
 *
 * @typedef {object} Request
 * @property {string} name
 * @property {import('../../platform/lock-request.js').RequestOptions} options
 * @property {(lock: object | null) => unknown} callback
 * @property {(value: any) => void} resolve
 * @property {(reason: any) => void} reject
 * @property {number} block its block in the segment; 0 before and after
 */

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

    /** §3.2.1 @param {ArrayLike<any>} given @returns {Promise<unknown>} */
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

    /** §3.2.2 @returns {{ held: LockInfo[], pending: LockInfo[] }} */
    query() {
        this.#core.assertOpen();
        return this.#inside(() => {
            const all = [...this.#infos()];
            const of = (/** @type {number} */ wanted) =>
                all.filter(([state]) => state === wanted).map(([, info]) => info);
            return { held: of(lockStates.held), pending: of(lockStates.pending) };
        });
    }

    /** @returns {Generator<[number, LockInfo]>} */
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

    /** §4.1, and what follows from it. @param {Request} request */
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

    /** @param {Request} request @returns {number} */
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

    /** The lock is held until what the callback returns is settled. @param {Request} request @param {number} block */
    async #hold(request, block) {
        void this.#watch(request, block);
        const waiting = invoked(
            request.callback,
            new SharedLock(internal, request.name, request.options.mode),
        );
        await waiting.catch(() => {});
        if (this.#core.closed) return;
        // §4.2: released first. Whether the lock was stolen before is decided in the segment, not by which thread is woken first.
        const stolen = this.#drop(request) === lockStates.stolen;
        this.#forget(request, () => (stolen ? this.#rejectStolen(request) : request.resolve(waiting)));
    }

    /** §4.1: the previous holder of a stolen lock is notified at once. @param {Request} request @param {number} block */
    async #watch(request, block) {
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

    /** @param {Request} request */
    #rejectStolen({ reject }) {
        reject(new DOMException(stolenMessage, 'AbortError'));
    }

    /** §4.3; after close() nothing of it is left. @param {Request} request */
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
        Atomics.notify(this.#core.words, this.#wordOf(block)); // #watch() may sleep on it still
        return state;
    }

    /** @param {Request} request @param {() => void} settle */
    #forget(request, settle) {
        this.#requests.delete(request);
        settle();
    }

    /** The attachment is closed: what it held was released. */
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

    /** @param {number} block */
    #wordOf(block) {
        return (this.#segment + block * blockBytes + requestFields.state) >> 2;
    }

    /** @param {number} block */
    #state(block) {
        return Atomics.load(this.#core.words, this.#wordOf(block));
    }

    /**
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
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {import('../segment/open-segment.js').StoreOps} ops
 */
export async function openLocks(core, ops) {
    const segment = await openSegment(core, segmentSlots.locks);
    await joinSegment(core, ops, 'locks', segment);
    return new ThreadLockManager(core, ops, segment);
}
