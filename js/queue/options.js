/** What the users of a queue pass, checked before anything is done. */

import { invalid } from '../errors.js';
import { checkInteger, checkOptions } from '../shared/check.js';

/**
 * An agreement of all tabs that use the queue.
 *
 * @typedef {object} QueueOptions
 * @property {number} [concurrency] jobs that run at a time, over all tabs: from 1 to 64; 1 unless said otherwise
 * @property {'fifo' | 'lifo'} [order] oldest or newest first, of one priority; `fifo` unless said otherwise
 * @property {number} [attempts] how often a job that fails is tried before it becomes a dead letter, from
 *   1, or Infinity; 3 unless said otherwise
 * @property {number} [backOff] milliseconds before the second attempt, then twice as long each, up to an hour;
 *   of each, up to half is left out at random. 1 000 unless said otherwise
 * @property {'continue' | 'pause'} [onFailure] `pause`: when a job fails, nothing is run, in any tab, until
 *   resume(), until the browser comes online, or until a job is enqueued; the job keeps its place.
 *   `continue` unless said otherwise
 * @property {number} [limit] how many jobs may be in the queue; Infinity unless said otherwise
 * @property {'at-least-once' | 'at-most-once'} [delivery] of jobs whose own is not said; `at-least-once`
 *   unless said otherwise
 * @property {'relaxed' | 'strict'} [durability] what a receipt has reached: the operating system, or the
 *   disk; `relaxed` unless said otherwise
 */

/**
 * @param {string} argument
 * @param {unknown} value undefined: the first
 * @param {readonly string[]} words
 */
export function checkOneOf(argument, value, words) {
    if (value !== undefined && !(/** @type {readonly unknown[]} */ (words).includes(value))) {
        throw invalid(argument, value, words.join(' or '));
    }
    return value ?? words[0];
}

/** @param {unknown} given */
export function checkQueueOptions(given) {
    const options = checkOptions(given, [
        'concurrency', 'order', 'attempts', 'backOff', 'onFailure', 'limit', 'delivery', 'durability',
    ]);
    /** @param {'attempts' | 'limit'} name @param {number} otherwise */
    const count = (name, otherwise) => {
        const { [name]: value = otherwise } = options;
        return value === Infinity ? 0 : checkInteger(name, value, 1, 2 ** 31 - 1);
    };
    const { concurrency = 1, backOff = 1_000 } = options;
    const bits = [
        checkOneOf('order', options.order, ['fifo', 'lifo']) === 'lifo',
        checkOneOf('onFailure', options.onFailure, ['continue', 'pause']) === 'pause',
        checkOneOf('durability', options.durability, ['relaxed', 'strict']) === 'strict',
    ];
    return {
        atMostOnce: checkOneOf('delivery', options.delivery, ['at-least-once', 'at-most-once']) === 'at-most-once',
        /** As queue_open() in wasm/src/bindings/queue takes them. */
        numbers: [
            bits.reduce((sum, bit, index) => sum + (bit ? 1 << index : 0), 0),
            checkInteger('concurrency', concurrency, 1, 64),
            count('attempts', 3),
            checkInteger('backOff', backOff, 0, 3_600_000),
            count('limit', Infinity),
        ],
    };
}
