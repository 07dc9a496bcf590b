import { show } from '../common/errors.js';
import { recordFields } from './arena-layout.js';
import { sleepOn, tooMany, waitBlocking, waitDecided } from './record-wait.js';
import { asyncLimits, blockingDeadline, sleepMax_ms } from './wait-limits.js';

/**
 * A barrier in shared memory. All threads that open the same name get the same barrier. In each phase, the parties
 * that arrive wait until all have arrived, and then pass together. `shared.barrier(name, parties)` returns it.
 *
 * A thread is a party from its first arrival, or from `join()`. If a party dies (its thread is terminated, or closes
 * its attachment), it is removed from the parties, as by `arriveAndDrop()`, so that no thread waits for it. `attach()`
 * describes which deaths are noticed. If several tasks of one thread arrive in one phase, each of them is a party.
 *
 * @example
 * const parties = 1; // the number of workers, each of which runs these lines
 * const barrier = shared.barrier('rows', parties);
 * work();
 * barrier.arriveAndWait(); // until all workers have done theirs
 */
export class SharedBarrier {
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
        /** The name that was passed to shared.barrier(). */
        this.name = name;
    }

    /**
     * Makes this thread a party before it arrives, so that its death is noticed from here on.
     *
     * @throws {import('../common/errors.js').TabacusError} `out-of-memory` if there are 512 parties; `closed`
     */
    join() {
        this.#core.assertOpen();
        if (this.#core.ops.barrier_join(this.#at, this.#core.id) === 0) throw tooMany(this.name);
    }

    /**
     * Arrives, and blocks until all parties have arrived.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 − 1.
     *   After it the arrival is taken back
     * @returns {void}
     * @throws {import('../common/errors.js').TabacusError} `would-block` on a page's main thread; `out-of-memory`;
     *   `invalid-argument`; `closed`
     * @throws {DOMException} `TimeoutError`
     */
    arriveAndWait(options) {
        const core = this.#core;
        const deadline_ms = blockingDeadline(core, options, 'arriveAndWaitAsync');
        const { record, index, phase } = this.#arrive();
        while (Atomics.load(core.words, index) === phase) {
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms > 0) {
                Atomics.wait(core.words, index, phase, Math.min(rest_ms, sleepMax_ms));
                continue;
            }
            core.ops.barrier_take_back(this.#at, core.id, record);
            waitBlocking(core, record, Infinity);
            break;
        }
        if (core.ops.barrier_leave(record) === 0) throw this.#timedOut();
    }

    /**
     * Arrives, and resolves when all parties have arrived.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait; the arrival is taken back.
     *   `timeout` is in milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<void>} rejects with the signal's reason, with a `TimeoutError`, or with `out-of-memory`,
     *   `invalid-argument` or `closed`
     */
    async arriveAndWaitAsync(options = {}) {
        const core = this.#core;
        const { deadline_ms, signal } = asyncLimits(core, options);
        const { record, index, phase } = this.#arrive();
        try {
            while (Atomics.load(core.words, index) === phase) {
                const rest_ms = deadline_ms - performance.now();
                if (rest_ms <= 0) throw this.#timedOut();
                await sleepOn(core, index, phase, rest_ms, signal);
            }
        } catch (error) {
            if (core.closed) throw error;
            core.ops.barrier_take_back(this.#at, core.id, record);
            await waitDecided(core, record, Infinity, undefined);
            core.assertOpen();
            if (core.ops.barrier_leave(record) === 0) throw error;
            return;
        }
        core.assertOpen();
        core.ops.barrier_leave(record);
    }

    /**
     * Arrives in this phase and in all later ones, and does not wait. The thread, or one task of it, is no party
     * any more.
     *
     * @throws {import('../common/errors.js').TabacusError} `out-of-memory`; `closed`
     */
    arriveAndDrop() {
        this.#core.assertOpen();
        if (this.#core.ops.barrier_drop(this.#at, this.#core.id) === 0) throw tooMany(this.name);
    }

    /** Gives the object its parties. Returns the number that the first call gave. @param {number} parties */
    _begin(parties) {
        this.#core.assertOpen();
        return this.#core.ops.barrier_begin(this.#at, parties);
    }

    /** Arrives. Returns the record, the index of the word to sleep on, and the word's value in this phase. */
    #arrive() {
        const { ops, id, words } = this.#core;
        const record = ops.barrier_arrive(this.#at, id);
        if (record === 0) throw tooMany(this.name);
        const phase = Atomics.load(words, (record + recordFields.ticket) >> 2);
        return { record, index: ops.barrier_phase(this.#at) >> 2, phase };
    }

    #timedOut() {
        return new DOMException(`not all parties of ${show(this.name)} arrived in time`, 'TimeoutError');
    }
}
