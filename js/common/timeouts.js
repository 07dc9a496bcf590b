/** The option `timeouts` of open(): how long calls wait for a browser that does not answer. */

import { checkInteger, checkOptions } from './check-arguments.js';

/**
 * Times in milliseconds, each an integer from 100 to 3 600 000.
 *
 * @typedef {object} Timeouts
 * @property {number} [open] how long `open()` waits for the database; 3 000 by default. After this time the tab is
 *   opened all the same, and `capabilities.opening` is true until the database has opened
 * @property {number} [transaction] how long a transaction, or a call that needs a database which does not open, waits
 *   for an answer; 10 000 by default. Only time in which the timers of this page run counts
 * @property {number} [close] how long `close()` takes at most; 5 000 by default. What is not committed by then is lost
 * @property {number} [slowLock] how long a request for a lock waits before the warning `slow-lock` names what it waits
 *   for; 10 000 by default. `Infinity` switches the warning off
 */

/**
 * The defaults.
 *
 * - `open`: a database opens within some 10 ms, or within a second on a slow disk. If a page has counted
 *   nothing after 3 s, its user believes that it is broken.
 * - `transaction`: a transaction takes a millisecond, or some seconds if it waits for a large one of another
 *   tab. Chromium itself ends a transaction that blocks others, but only after about a minute.
 * - `close`: this is enough for one commit and a second attempt.
 * - `slowLock`: most holders release a lock within a second, and a person notices a wait of 10 s.
 *
 * @type {Readonly<Required<Timeouts>>}
 */
export const defaultTimeouts = { open: 3_000, transaction: 10_000, close: 5_000, slowLock: 10_000 };

/** Shorter times would end calls that only wait for a busy disk. */
const timeoutLeast_ms = 100;

/** An hour is longer than a user waits. */
const timeoutMost_ms = 3_600_000;

/**
 * Checks the option `timeouts`.
 *
 * @param {unknown} value
 * @returns {Timeouts} those that are given
 */
export function checkTimeouts(value) {
    if (value === undefined) return {};
    const names = /** @type {(keyof Timeouts)[]} */ (Object.keys(defaultTimeouts));
    const given = Object.entries(checkOptions(value, names, 'timeouts')).filter(
        ([, time]) => time !== undefined,
    );
    for (const [name, time] of given) {
        const mayBeOff = name === 'slowLock';
        if (mayBeOff && time === Infinity) continue;
        const also = mayBeOff ? ', or Infinity' : '';
        checkInteger(`timeouts.${name}`, time, timeoutLeast_ms, timeoutMost_ms, also);
    }
    return Object.fromEntries(given);
}
