/** `shared.locks` (W3C Web Locks API §3 and §4) over the requests that threads share: shared_lock_table.hpp. */

import { checkRequest, invoked, requestFrom, stolenMessage } from '../../platform/lock-request.js';
import { internal } from '../../platform/web-idl.js';
import { lockInterface } from '../../platform/lock-manager.js';
import { TabacusError } from '../../common/errors.js';
import {
    blockBytes,
    doors,
    lockHow,
    lockModes,
    lockStates,
    noRequest,
    notAvailable,
    requestFields,
    roomFields,
} from '../segment/segment-layout.js';
import { join, lifeOf, roomBehind } from '../segment/segment.js';
import { task } from '../../common/macrotask.js';
import { Texts } from '../segment/texts.js';
import { sleepAsync } from '../waiting.js';

/** @typedef {{ name: string, mode: 'exclusive' | 'shared', clientId: string }} LockInfo */

const SharedLock = lockInterface();

/** For so long a request's word is slept on: where nobody can be woken, the word of one that is gone may never change. */
const lookMax_ms = () => ('waitAsync' in Atomics ? Infinity : 1000);

/**
 * A request, from request() until its promise is settled for good.
 *
 * @typedef {object} Request
 * @property {string} name
 * @property {import('../../platform/lock-request.js').RequestOptions} options
 * @property {(lock: object | null) => unknown} callback
 * @property {(value: any) => void} resolve
 * @property {(reason: any) => void} reject
 * @property {number} block its own in the room; 0 before and after
 */

export class OpenLocks {
    #core;
    #ops;
    #room;
    #texts;

    /** @type {Set<Request>} */
    #requests = new Set();

    /**
     * @param {import('../thread-core.js').Core} core
     * @param {import('../segment/segment.js').StoreOps} ops
     * @param {number} room
     */
    constructor(core, ops, room) {
        this.#core = core;
        this.#ops = ops;
        this.#room = room;
        this.#texts = new Texts(core, room);
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
        const life = lifeOf(this.#core.words, this.#room);
        let block = Number(this.#core.words[(this.#room + roomFields.first) >> 2]);
        for (; block !== 0; block = word(block, requestFields.next)) {
            const clientId = `${life}/${word(block, requestFields.client)}`;
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
            await task();
            this.#core.assertOpen();
            this.#forget(request, () => request.resolve(invoked(request.callback, null)));
            return;
        }
        request.block = block;
        const abort = () => this.#abort(request);
        options.signal?.addEventListener('abort', abort);
        while (request.block !== 0 && this.#state(block) === lockStates.pending) {
            await sleepAsync(this.#core.words, this.#wordOf(block), lockStates.pending, lookMax_ms());
        }
        // §4.4: the callback is invoked in a task, unless the request was aborted meanwhile.
        await task();
        options.signal?.removeEventListener('abort', abort);
        if (request.block !== 0) await this.#hold(request, block);
    }

    /** @param {Request} request @returns {number} */
    #enqueue({ name, options: { mode, ifAvailable, steal } }) {
        const how = steal ? lockHow.steal : ifAvailable ? lockHow.ifAvailable : lockHow.wait;
        const { id } = this.#core;
        const block = this.#inside(() => {
            const text = this.#ops.locks_text(this.#room, name.length);
            if (text === 0) return noRequest;
            this.#texts.write(text, name);
            if (!this.#ops.locks_inside(this.#room, id))
                throw new TabacusError('lock-lost', 'this thread stood still, and was taken for dead');
            return this.#ops.locks_request(this.#room, id, text, lockModes.indexOf(mode), how) >>> 0;
        });
        if (block === noRequest)
            throw new TabacusError(
                'out-of-memory',
                'the shared memory has no room for another request for a lock',
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
        // §4.2: released first. Whether it was stolen before is settled in the room, not by who of both hears of it first.
        const stolen = this.#drop(request) === lockStates.stolen;
        this.#forget(request, () => (stolen ? this.#tellStolen(request) : request.resolve(waiting)));
    }

    /** §4.1: a robbed holder is told at once. @param {Request} request @param {number} block */
    async #watch(request, block) {
        while (request.block !== 0 && this.#state(block) === lockStates.held) {
            await sleepAsync(
                this.#core.words,
                this.#wordOf(block),
                lockStates.held,
                lookMax_ms(),
                this.#core.ending,
            );
        }
        if (request.block !== 0) this.#tellStolen(request);
    }

    /** @param {Request} request */
    #tellStolen({ reject }) {
        reject(new DOMException(stolenMessage, 'AbortError'));
    }

    /** §4.3; after close() nothing of it is left. @param {Request} request */
    #abort(request) {
        if (request.block === 0) return;
        this.#drop(request);
        this.#forget(request, () => request.reject(request.options.signal?.reason));
    }

    /** What it has in the room, waiting or held, it has no more. @param {Request} request @returns {number} its state before */
    #drop(request) {
        const { block } = request;
        request.block = 0;
        const state = this.#inside(() => {
            const before = this.#state(block);
            this.#ops.locks_release(this.#room, block);
            return before;
        });
        Atomics.notify(this.#core.words, this.#wordOf(block)); // whoever watches it still, looks
        return state;
    }

    /** @param {Request} request @param {() => void} settle */
    #forget(request, settle) {
        this.#requests.delete(request);
        settle();
    }

    /** The attachment is closed: what is held was let go of. */
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
        return (this.#room + block * blockBytes + requestFields.state) >> 2;
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
        this.#ops.locks_enter(this.#room, id, maySleep ? 1 : 0);
        try {
            return work();
        } finally {
            this.#ops.locks_leave(this.#room, id);
        }
    }
}

/**
 * @param {import('../thread-core.js').Core} core
 * @param {import('../segment/segment.js').StoreOps} ops
 */
export async function openLocks(core, ops) {
    const room = await roomBehind(core, doors.locks);
    await join(core, ops, 'locks', room);
    return new OpenLocks(core, ops, room);
}
