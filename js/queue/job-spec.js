/** A job as callers ask for it, checked, and as the core takes it. */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { invalid } from '../common/errors.js';
import { checkKey } from '../lock/store-arguments.js';
import { packed } from './payloads.js';
import { checkKind } from './queue-options.js';

/**
 * @typedef {object} EnqueueOptions
 * @property {string} [key] one job per key: a job that waits takes the newer payload and moves to the front, a job
 *   that runs stays as it is. Up to 1024 UTF-16 units
 * @property {number | boolean} [priority] larger ones first: an integer from -1000 to 1000; true is 1. 0 by
 *   default
 * @property {boolean} [optional] it is tried once, and its failure harms nothing
 * @property {number} [delay] milliseconds before it may run
 * @property {string} [kind] which handlers take it
 * @property {'at-least-once' | 'at-most-once'} [delivery] the queue's by default
 * @property {AbortSignal} [signal] of Queue.enqueue() alone: ends the wait for the store, with the signal's reason. The
 *   job may be enqueued all the same
 * @property {number} [timeout] of Queue.enqueue() alone: ends that wait with a `TimeoutError` after so many milliseconds
 */

/** A job as the core takes it. @typedef {import('../core/generated/queues.js').JobSpec} Spec */

const delayMsMax = 2 ** 31 - 1;

/** @param {unknown} key */
export function checkJobKey(key) {
    if (key === '') throw invalid('key', key, 'a string of at least one UTF-16 unit');
    return checkKey('key', key);
}

/**
 * @param {unknown} payload
 * @param {unknown} given options
 * @param {'at-least-once' | 'at-most-once'} delivery of a job that does not say it
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
        payload: packed('payload', payload, values), // last: what is refused keeps nothing
    };
}
