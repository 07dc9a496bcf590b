import { invalid, show, TabacusRangeError } from '../common/errors.js';
import { acquired, permitsMax } from './arena-layout.js';
import { settled, tooMany, waitBlocking } from './record-wait.js';
import { asyncLimits, blockingDeadline, blocksUntil } from './wait-limits.js';

/**
 * A counting semaphore in shared memory. All threads that open the same name get the same semaphore. Blocking and
 * asynchronous waiters wait in one queue, and get permits in its order. `shared.semaphore(name, permits)` returns
 * it.
 *
 * Each permit is accounted to the thread that acquired it. If that thread dies (it is terminated, or closes its
 * attachment), its permits can be acquired again. `attach()` describes which deaths are noticed. A release takes a
 * permit from the account of the calling thread; or if that has none, from the account of another thread; or if
 * none has any, it adds a permit. So a thread may release what another one acquired.
 *
 * @example
 * const semaphore = shared.semaphore('slots', 4);
 * await semaphore.acquireAsync();
 * try {
 *     await work();
 * } finally {
 *     semaphore.release();
 * }
 */
export class SharedSemaphore {
    #core;
    #at;

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {number} at
     */
    constructor(core, name, at) {
        this.#core = core;
        this.#at = at;
        /** The name that was passed to shared.semaphore(). */
        this.name = name;
    }

    /**
     * Blocks until this thread has acquired a permit.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 − 1
     * @returns {void}
     * @throws {TabacusError} `would-block` on a page's main thread, even if there is a permit; `out-of-memory` if
     *   there are 512 requests and accounts; `invalid-argument`; `closed`
     * @throws {DOMException} `TimeoutError`
     */
    acquire(options) {
        const deadline_ms = blockingDeadline(this.#core, options, 'acquireAsync');
        const { record, settle } = this.#request(blocksUntil(deadline_ms));
        waitBlocking(this.#core, record, deadline_ms);
        this.#check(settle(1));
    }

    /**
     * Acquires a permit, if there is one and no thread waits for it. It never blocks.
     *
     * @returns {boolean} whether it has acquired a permit
     * @throws {TabacusError} `out-of-memory`; `closed`
     */
    tryAcquire() {
        this.#core.assertOpen();
        return this.#request().settle(giveUpSoon) === acquired.acquired;
    }

    /**
     * Acquires a permit, without blocking the thread.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait; `timeout` is in
     *   milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<void>} rejects with the signal's reason, with a `TimeoutError`, or with
     *   `out-of-memory`, `invalid-argument` or `closed`
     */
    async acquireAsync(options = {}) {
        const limits = asyncLimits(this.#core, options);
        this.#check(await settled(this.#core, this.#request(), limits));
    }

    /**
     * Releases permits. It never blocks.
     *
     * @param {number} [n] how many, from 1 to 2^23 − 1
     * @throws {TabacusRangeError} if the semaphore would have more than 2^23 − 1 permits; it gets none then
     * @throws {import('../common/errors.js').TabacusError} `invalid-argument`; `closed`
     */
    release(n = 1) {
        this.#core.assertOpen();
        if (!Number.isInteger(n) || n < 1 || n > permitsMax)
            throw invalid('n', n, `an integer from 1 to ${permitsMax}`);
        if (this.#core.ops.semaphore_release(this.#at, this.#core.id, n) !== 0)
            throw new TabacusRangeError(`${show(this.name)} would have more than ${permitsMax} permits`);
    }

    /** The number of permits that can be acquired. It may have changed by the time the caller uses it. */
    get available() {
        this.#core.assertOpen();
        return this.#core.ops.semaphore_available(this.#at);
    }

    /** Gives the object its permits. Returns the number that the first call gave. @param {number} permits */
    _begin(permits) {
        this.#core.assertOpen();
        return this.#core.ops.semaphore_begin(this.#at, permits);
    }

    /**
     * Publishes a request.
     *
     * @param {number} [blocks] what blocksUntil() returns if the thread blocks; otherwise 0
     * @returns {import('./record-wait.js').Request}
     */
    #request(blocks = 0) {
        const { ops, id } = this.#core;
        const record = ops.semaphore_request(this.#at, id, blocks);
        if (record === 0) throw tooMany(this.name);
        return {
            record,
            settle: (giveUp) => ops.semaphore_settle(this.#at, id, record, giveUp),
            giveBack: () => void ops.semaphore_release(this.#at, id, 1),
        };
    }

    /** @param {number} result an Acquired */
    #check(result) {
        if (result !== acquired.acquired)
            throw new DOMException(`${show(this.name)} had no permit in time`, 'TimeoutError');
    }
}

/** The parameter of settle() of a caller that gives up, but waits for a thread that grants just now. */
const giveUpSoon = 2;
