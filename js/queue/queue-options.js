/** Checks of the arguments of queues, which are made before anything else is done. */

import { invalid } from '../common/errors.js';
import { checkFunction, checkName, checkOptions } from '../common/check-arguments.js';

/**
 * The options of a queue. All tabs that use the queue must pass the same.
 *
 * @typedef {object} QueueOptions
 * @property {number} [concurrency] how many jobs run at a time, over all tabs: an integer from 1 to 64; 1 by
 *   default
 * @property {'fifo' | 'lifo'} [order] whether the oldest or the newest job of a priority runs first; `fifo`
 *   by default
 * @property {number} [attempts] how many times a job that fails is tried before it becomes a dead letter: an
 *   integer from 1 to 2^31 − 1, or Infinity; 3 by default
 * @property {number} [backOff] the delay before the second attempt, in milliseconds: an integer from 0 to
 *   3 600 000; 1 000 by default. Each later delay is twice the one before it, up to an hour. A random part of up
 *   to half is subtracted from each
 * @property {'continue' | 'pause'} [onFailure] what a failed attempt does. `pause`: no job runs in any tab
 *   until resume() is called, the browser comes online, or a job is enqueued; the failed job keeps its
 *   position. `continue`, the default: other jobs run meanwhile
 * @property {number} [limit] how many jobs may be in the queue: an integer from 1 to 2^31 − 1, or Infinity,
 *   the default
 * @property {'at-least-once' | 'at-most-once'} [delivery] whether a job runs again if the tab that runs it is
 *   lost, for jobs that do not state it themselves; `at-least-once` by default
 * @property {'relaxed' | 'strict'} [durability] what a job has reached when enqueue() resolves: the operating
 *   system (`relaxed`) or the disk (`strict`); `relaxed` by default
 */

/** Checks the kind of a job, which may be empty. @param {unknown} kind */
export function checkKind(kind) {
    if (kind !== '' && checkName(kind, 'kind').includes('\0'))
        throw invalid('kind', kind, 'a string without U+0000');
    return /** @type {string} */ (kind);
}

/** The kinds of jobs that a handler runs; undefined stands for all kinds. @typedef {{ kinds: string[] | undefined }} Handled */

/**
 * Checks the arguments of handle(), and adds the handler to those of a queue in this tab.
 *
 * @param {Set<Handled>} handled the kinds of the handlers that the queue has in this tab
 * @param {(handler: import('./handlers.js').Handler, own: Handled) => () => void} add registers the
 *   handler, and returns a function that removes it
 * @param {unknown} first the first argument of handle(): a handler or a kind
 * @param {unknown} second the second argument of handle(): options or a handler
 * @returns {() => void} removes the handler
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`, also if another handler has one of
 *   the kinds
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
