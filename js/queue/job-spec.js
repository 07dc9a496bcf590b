/** Checks the arguments of enqueue(), and converts them for the core. */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { invalid } from '../common/errors.js';
import { checkKey } from '../lock/store-arguments.js';
import { packed } from './payloads.js';
import { checkKind } from './queue-options.js';

/**
 * @typedef {object} EnqueueOptions
 * @property {string} [key] a queue has at most one job with this key, of up to 1024 UTF-16 units. If it has
 *   one that waits, that job takes the new payload and moves to the front. If it has one that runs, that job
 *   stays as it is
 * @property {number | boolean} [priority] jobs with a larger priority run first: an integer from -1000 to
 *   1000, or true for 1; 0 by default
 * @property {boolean} [optional] whether the job is tried only once, and leaves no dead letter if it fails;
 *   `false` by default
 * @property {number} [delay] how long the job waits before it may run, in milliseconds; 0 by default
 * @property {string} [kind] the kind of the job, which decides which handlers run it; empty by default
 * @property {'at-least-once' | 'at-most-once'} [delivery] whether the job runs again if the tab that runs it
 *   is lost; by default that of the queue
 * @property {AbortSignal} [signal] only for Queue.enqueue(): ends the wait for the store, with the signal's
 *   reason. The job may be enqueued all the same
 * @property {number} [timeout] only for Queue.enqueue(): ends that wait with a `TimeoutError` after this
 *   time, in milliseconds
 */

/** A job as the core takes it. @typedef {import('../core/generated/queues.js').JobSpec} Spec */

const delayMsMax = 2 ** 31 - 1;

/** Checks the option `key`, and returns it. @param {unknown} key */
export function checkJobKey(key) {
    if (key === '') throw invalid('key', key, 'a string of at least one UTF-16 unit');
    return checkKey('key', key);
}

/**
 * Checks a payload and its options, and returns the job for the core.
 *
 * @param {unknown} payload
 * @param {unknown} given the options
 * @param {'at-least-once' | 'at-most-once'} delivery the default of the queue
 * @param {import('../host/values.js').Values} values
 * @param {readonly never[]} [further] names of further options, which the caller checks
 * @returns {Spec}
 */
export function jobSpec(payload, given = {}, delivery, values, further = []) {
    const known = /** @type {const} */ (['key', 'priority', 'optional', 'delay', 'kind', 'delivery']);
    const options = checkOptions(given, [...known, ...further]);
    const key = options.key === undefined ? '' : checkJobKey(options.key);
    const { priority = 0, optional = false, delay = 0, kind = '' } = options;
    const level =
        typeof priority === 'boolean' ? Number(priority) : checkInteger('priority', priority, -1000, 1000);
    if (typeof optional !== 'boolean') throw invalid('optional', optional, 'true or false');
    if (typeof delay !== 'number' || !(delay >= 0 && delay <= delayMsMax)) {
        throw invalid('delay', delay, `a number of milliseconds from 0 to ${delayMsMax}`);
    }
    const { delivery: own = delivery } = options;
    if (own !== 'at-least-once' && own !== 'at-most-once')
        throw invalid('delivery', own, 'at-least-once or at-most-once');
    return {
        key,
        kind: checkKind(kind),
        priority: level,
        optional,
        atMostOnce: own === 'at-most-once',
        delay_ms: delay,
        payload: packed('payload', payload, values), // last, so that a refused job keeps no value
    };
}
