/** The limits of waits for the objects of shared memory. */

import { TabacusError } from '../common/errors.js';
import { checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';

/** @typedef {import('./thread-core.js').ThreadCore} ThreadCore */

/** The longest single sleep, the same as PlatformCells::sleep_max_ns of C++. */
export const sleepMax_ms = 100;

/** A bound of the time for which a thread watches a lock before it queues (PlatformCells::watch_max_ns of C++). */
const watchMax_ms = 10;

/**
 * Returns the parameter `blocks` of rw_request and semaphore_request for a thread that blocks: 2 if it may sleep while
 * it watches the lock before it queues; 1 if it has too little time for that, and enters the queue at once.
 *
 * @param {number} deadline_ms
 */
export const blocksUntil = (deadline_ms) => (deadline_ms - performance.now() > watchMax_ms ? 2 : 1);

/**
 * Checks the options of a blocking wait, and that this thread may block.
 *
 * @param {ThreadCore} core
 * @param {{ timeout?: number } | undefined} options
 * @param {string} instead the method to use instead
 * @returns {number} the deadline, in the time of performance.now()
 */
export function blockingDeadline(core, options, instead) {
    core.assertOpen();
    const timeout_ms =
        options === undefined ? options : checkTimeout(checkOptions(options, ['timeout']).timeout);
    if (!core.maySleep) {
        throw new TabacusError('would-block', `a main thread must not block: await ${instead}() instead`);
    }
    return timeout_ms === undefined ? Infinity : performance.now() + timeout_ms;
}

/**
 * Checks the options of an asynchronous wait.
 *
 * @param {ThreadCore} core
 * @param {{ signal?: AbortSignal, timeout?: number }} options
 */
export function asyncLimits(core, options) {
    core.assertOpen();
    const given = checkOptions(options, ['signal', 'timeout']);
    const signal = checkSignal(given.signal);
    const deadline_ms = performance.now() + (checkTimeout(given.timeout) ?? Infinity);
    signal?.throwIfAborted();
    return { deadline_ms, signal };
}
