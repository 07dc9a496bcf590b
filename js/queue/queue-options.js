/** What the users of a queue pass, checked before anything is done. */

import { invalid } from '../common/errors.js';
import { checkInteger, checkName, checkOptions } from '../common/check-arguments.js';

/**
 * An agreement of all tabs that use the queue.
 *
 * @typedef {object} QueueOptions
 * @property {number} [concurrency] jobs that run at a time, over all tabs: from 1 to 64; 1 by default
 * @property {'fifo' | 'lifo'} [order] oldest or newest first, of one priority; `fifo` by default
 * @property {number} [attempts] how often a job that fails is tried before it becomes a dead letter, from
 *   1, or Infinity; 3 by default
 * @property {number} [backOff] milliseconds before the second attempt, then twice as long each, up to an hour;
 *   of each, up to half is left out at random. 1 000 by default
 * @property {'continue' | 'pause'} [onFailure] `pause`: when a job fails, nothing is run, in any tab, until
 *   resume(), until the browser comes online, or until a job is enqueued; the job keeps its position.
 *   `continue` by default
 * @property {number} [limit] how many jobs may be in the queue; Infinity by default
 * @property {'at-least-once' | 'at-most-once'} [delivery] of jobs without their own; `at-least-once` by
 *   default
 * @property {'relaxed' | 'strict'} [durability] what a receipt has reached: the operating system, or the
 *   disk; `relaxed` by default
 */

/** The choices of each option; the first is the default. */
const choices = {
    order: ['fifo', 'lifo'],
    onFailure: ['continue', 'pause'],
    durability: ['relaxed', 'strict'],
    delivery: ['at-least-once', 'at-most-once'],
};

/** The least, the most and the default of each option. */
const numbers = {
    concurrency: [1, 64, 1],
    attempts: [1, Infinity, 3],
    backOff: [0, 3_600_000, 1_000],
    limit: [1, Infinity, Infinity],
};

/** What the core counts with. */
const integerMax = 2 ** 31 - 1;

/** @param {unknown} kind */
export function checkKind(kind) {
    if (kind !== '' && checkName(kind, 'kind').includes('\0'))
        throw invalid('kind', kind, 'a string without U+0000');
    return /** @type {string} */ (kind);
}

/**
 * @param {unknown} given the options of a handler
 * @returns {string[] | undefined} undefined: all
 */
export function checkKinds(given) {
    const { kinds } = checkOptions(given, ['kinds']);
    if (kinds === undefined) return undefined;
    if (!Array.isArray(kinds) || kinds.length === 0)
        throw invalid('kinds', kinds, 'an array of one or more kinds');
    return kinds.map(checkKind);
}

/**
 * The options as queue_open() in wasm/src/bindings/queue takes them; the bits are those of `choices`, in order.
 *
 * @param {unknown} given
 * @returns {number[]}
 */
export function checkQueueOptions(given) {
    const options = checkOptions(given, [...Object.keys(choices), ...Object.keys(numbers)]);
    let bits = 0;
    Object.entries(choices).forEach(([name, [first, second]], index) => {
        const { [name]: value = first } = options;
        if (value === second) bits |= 1 << index;
        else if (value !== first) throw invalid(name, value, `${first} or ${second}`);
    });
    const counts = Object.entries(numbers).map(([name, [least = 0, most = 0, otherwise]]) => {
        const { [name]: value = otherwise } = options;
        const endless = most === Infinity;
        if (endless && value === Infinity) return 0;
        return checkInteger(name, value, least, Math.min(most, integerMax), endless ? ', or Infinity' : '');
    });
    return [bits, ...counts];
}
