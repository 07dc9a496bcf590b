/** What the users of a queue pass, checked before anything is done. */

import { invalid } from '../common/errors.js';
import { checkFunction, checkName, checkOptions } from '../common/check-arguments.js';

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

/** @param {unknown} kind */
export function checkKind(kind) {
    if (kind !== '' && checkName(kind, 'kind').includes('\0'))
        throw invalid('kind', kind, 'a string without U+0000');
    return /** @type {string} */ (kind);
}

/** What a handler takes; undefined: all kinds. @typedef {{ kinds: string[] | undefined }} Handled */

/**
 * Adds a handler to those of a queue in this tab.
 *
 * @param {Set<Handled>} handled
 * @param {(handler: import('./handlers.js').Handler, own: Handled) => () => void} add
 * @param {unknown} first of what was passed to handle(), in either form
 * @param {unknown} second
 * @returns {() => void} ends it
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`, also of a kind that another handler has
 */
export function addHandler(handled, add, first, second) {
    const [handler, options = {}] =
        typeof first === 'string' ? [second, { kinds: [first] }] : [first, second];
    checkFunction('handler', handler);
    const { kinds: given } = checkOptions(options, ['kinds']);
    if (given !== undefined && !(Array.isArray(given) && given.length > 0))
        throw invalid('kinds', given, 'an array of one or more kinds');
    const kinds = given?.map(checkKind);
    for (const { kinds: taken } of handled) {
        if (!kinds || !taken || kinds.some((kind) => taken.includes(kind)))
            throw invalid('kinds', kinds ?? 'all', 'kinds that no other handler of this tab has');
    }
    const own = { kinds };
    const end = add(/** @type {import('./handlers.js').Handler} */ (handler), own);
    handled.add(own);
    return () => {
        handled.delete(own);
        end();
    };
}
