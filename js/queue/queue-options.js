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
 * @param {unknown} given
 * @returns {import('../core/generated/queues.js').QueueOptions & { delivery: 'at-least-once' | 'at-most-once' }}
 */
export function checkQueueOptions(given) {
    const options = checkOptions(given, [
        ...['order', 'onFailure', 'durability', 'delivery'],
        ...['concurrency', 'attempts', 'backOff', 'limit'],
    ]);
    return {
        lifo: checkChoice(options, 'order', 'fifo', 'lifo') === 'lifo',
        pauseOnFailure: checkChoice(options, 'onFailure', 'continue', 'pause') === 'pause',
        durability: checkChoice(options, 'durability', 'relaxed', 'strict'),
        delivery: checkChoice(options, 'delivery', 'at-least-once', 'at-most-once'),
        concurrency: checkCount(options, 'concurrency', 1, 1, 64),
        attempts: checkCount(options, 'attempts', 3, 1, Infinity),
        backOff_ms: checkCount(options, 'backOff', 1_000, 0, 3_600_000),
        limit: checkCount(options, 'limit', Infinity, 1, Infinity),
    };
}

/**
 * @template {string} First, Second
 * @param {Record<string, unknown>} options
 * @param {string} name
 * @param {First} first the default
 * @param {Second} second
 * @returns {First | Second}
 */
function checkChoice(options, name, first, second) {
    const { [name]: value = first } = options;
    if (value !== first && value !== second) throw invalid(name, value, `${first} or ${second}`);
    return /** @type {First | Second} */ (value);
}

/**
 * @param {Record<string, unknown>} options
 * @param {string} name
 * @param {number} otherwise
 * @param {number} least
 * @param {number} most
 * @returns {number} 0 for Infinity
 */
function checkCount(options, name, otherwise, least, most) {
    const { [name]: value = otherwise } = options;
    const endless = most === Infinity;
    if (endless && value === Infinity) return 0;
    return checkInteger(name, value, least, Math.min(most, integerMax), endless ? ', or Infinity' : '');
}
