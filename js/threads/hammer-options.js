/** What hammer() is asked for, checked before the program of C++ threads is loaded. */

import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { SharedCounter } from './shared-counter.js';

/** Each thread has a Worker and a stack of 64 KiB; more than this is a mistake. */
const threadsMax = 64;

/**
 * @typedef {object} HammerOptions
 * @property {number} threads how many, 1 to 64
 * @property {number} adds how often each adds
 * @property {number} [amount] what it adds; a safe integer
 * @property {import('./tab-lock/shared-tab-lock.js').SharedTabLock} [lock] held for each add, by `tabacus::TabMutex`
 */

/**
 * @param {import('./thread-core.js').ThreadCore} core
 * @param {unknown} counter
 * @param {unknown} options
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`; `closed`
 */
export function checkHammer(core, counter, options) {
    core.assertOpen();
    const { kind, at } = SharedCounter.locate(counter, core);
    const given = checkOptions(options, ['threads', 'adds', 'amount', 'lock']);
    const threads = checkInteger('threads', given.threads, 1, threadsMax);
    const adds = checkInteger('adds', given.adds, 0, 2 ** 32 - 1);
    const most = Number.MAX_SAFE_INTEGER;
    const amount = checkInteger('amount', given.amount ?? 1, -most, most);
    return { kind, at, threads, adds, amount, lock: given.lock };
}
