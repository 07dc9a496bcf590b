/** Checks of the arguments of hammer(), which are made before the program of C++ threads is loaded. */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { SharedCounter } from './shared-counter.js';

/**
 * The most C++ threads. Each has a Worker and a stack of 64 KiB, so a larger number is taken for a mistake.
 */
const threadsMax = 64;

/** What C++ calls the kind of a counter over tabs, which has a layout of its own. */
const overTabs = 0;

/**
 * The options of hammer().
 *
 * @typedef {object} HammerOptions
 * @property {number} threads the number of threads: an integer from 1 to 64
 * @property {number} adds how many times each thread adds: an integer from 0 to 2^32 − 1
 * @property {number} [amount] the amount of each add: an integer within ±(2^53 − 1); 1 by default
 * @property {import('./tab-lock/shared-tab-lock.js').SharedTabLock} [lock] a lock that a thread holds during
 *   each add, by means of `tabacus::TabMutex`
 */

/**
 * Checks the arguments of hammer(), and returns them with their defaults.
 *
 * @param {import('./thread-core.js').ThreadCore} core
 * @param {unknown} counter
 * @param {unknown} options
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`; `closed`
 */
export function checkHammer(core, counter, options) {
    core.assertOpen();
    const cells = Object(counter)._lendCells?.(core);
    const { kind, at } = cells ? { kind: overTabs, at: cells } : SharedCounter.locate(counter, core);
    const given = checkOptions(options, ['threads', 'adds', 'amount', 'lock']);
    const threads = checkInteger('threads', given.threads, 1, threadsMax);
    const adds = checkInteger('adds', given.adds, 0, 2 ** 32 - 1);
    const most = Number.MAX_SAFE_INTEGER;
    const amount = checkInteger('amount', given.amount ?? 1, -most, most);
    return { kind, at, threads, adds, amount, lock: given.lock };
}
