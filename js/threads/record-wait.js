import { show, TabacusError } from '../common/errors.js';
import { acquired, recordFields, recordBits } from './arena-layout.js';
import { sleepMax_ms } from './wait-limits.js';
import { orAborted, sleepAsync } from './waiting.js';

/**
 * Waits for a request of a reader-writer lock, a semaphore or a barrier. Each request has a record, on whose state
 * its thread sleeps (combiner.hpp).
 */

/** @typedef {import('./thread-core.js').ThreadCore} ThreadCore */

/** Makes the error of an object that has no record left. @param {string} name */
export const tooMany = (name) =>
    new TabacusError('out-of-memory', `more than 512 requests and holds of ${show(name)} at a time`);

/**
 * Returns the value of the state to sleep on, or undefined if the request is decided. Marks the state, so that the
 * thread that decides the request wakes this one.
 *
 * @param {ThreadCore} core
 * @param {number} index of the state
 */
function undecided({ words }, index) {
    for (;;) {
        const state = Atomics.load(words, index);
        if ((state & recordBits.wants) === 0) return undefined;
        const marked = state | recordBits.sleeps;
        if (state === marked || Atomics.compareExchange(words, index, state, marked) === state) return marked;
    }
}

/** @param {number} record its address */
const stateOf = (record) => (record + recordFields.state) >> 2;

/**
 * Blocks until the request is decided or the deadline has passed.
 *
 * @param {ThreadCore} core
 * @param {number} record
 * @param {number} deadline_ms
 */
export function waitBlocking(core, record, deadline_ms) {
    const index = stateOf(record);
    for (let value; (value = undecided(core, index)) !== undefined;) {
        const rest_ms = deadline_ms - performance.now();
        if (rest_ms <= 0) return;
        Atomics.wait(core.words, index, value, Math.min(rest_ms, sleepMax_ms));
    }
}

/**
 * Resolves when the request is decided or the deadline has passed.
 *
 * @param {ThreadCore} core
 * @param {number} record
 * @param {number} deadline_ms
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>} rejects with the signal's reason or with `closed`
 */
export async function waitDecided(core, record, deadline_ms, signal) {
    const index = stateOf(record);
    for (let value; (value = undecided(core, index)) !== undefined;) {
        const rest_ms = deadline_ms - performance.now();
        if (rest_ms <= 0) return;
        await sleepOn(core, index, value, rest_ms, signal);
    }
}

/**
 * Sleeps on a word. If this ends early, it notifies the word, so that the promise of the sleep settles.
 *
 * @param {ThreadCore} core
 * @param {number} index
 * @param {number} value
 * @param {number} rest_ms
 * @param {AbortSignal | undefined} signal
 */
export async function sleepOn(core, index, value, rest_ms, signal) {
    const sleep = sleepAsync(core.words, index, value, rest_ms);
    try {
        await orAborted(orAborted(sleep, signal), core.ending);
    } catch (error) {
        Atomics.notify(core.words, index);
        throw error;
    }
}

/**
 * A request of a lock or a semaphore.
 *
 * @typedef {object} Request
 * @property {number} record its address; 0 if there was no record left
 * @property {(giveUp: number) => number} settle returns an Acquired (combiner.hpp)
 * @property {() => void} giveBack releases what was acquired
 */

/**
 * Awaits a request, and returns its result. A request that ends with an error is withdrawn. If the attachment is
 * closed before the caller has the result, rejects with `closed`.
 *
 * @param {ThreadCore} core
 * @param {Request} request
 * @param {{ deadline_ms: number, signal: AbortSignal | undefined }} limits
 * @returns {Promise<number>} an Acquired
 */
export async function settled(core, { record, settle, giveBack }, { deadline_ms, signal }) {
    try {
        await waitDecided(core, record, deadline_ms, signal);
    } catch (error) {
        // An attachment that is closed has given everything back.
        if (!core.closed && holds(settle(1))) giveBack();
        throw error;
    }
    core.assertOpen(); // close() has given back the record and this thread's stack
    return settle(1);
}

/** Whether the caller has acquired something. @param {number} result an Acquired */
export const holds = (result) => result === acquired.acquired || result === acquired.ownerDied;
