/** Checks of the options of a queue's lists. */

import { invalid } from '../common/errors.js';
import { checkInteger, checkOptions } from '../common/check-arguments.js';

/**
 * Which part of a list of jobs is read.
 *
 * @typedef {object} ListOptions
 * @property {string} [after] the `id` of a job: the list begins behind it. It is a job of the list, or the last
 *   one of an earlier list that this tab has read, which may be gone since. By default the list begins with
 *   the first job
 * @property {number} [limit] the most jobs that are read: an integer from 1 to 2^31 − 1, or Infinity, the
 *   default. A list with a limit takes memory for its own jobs alone, however many jobs are in the queue
 */

/**
 * Checks the options of a list, and returns them as the core takes them.
 *
 * @param {ListOptions} [options]
 * @returns {import('../core/generated/queues.js').JobRange}
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 */
export function checkRange(options = {}) {
    const { after, limit = Infinity } = checkOptions(options, ['after', 'limit']);
    if (after !== undefined && (typeof after !== 'string' || after === ''))
        throw invalid('after', after, 'the id of a job');
    const most = limit === Infinity ? 0 : checkInteger('limit', limit, 1, 2 ** 31 - 1, ' or Infinity');
    return { after: after ?? '', limit: most };
}
