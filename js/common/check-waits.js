/**
 * Checks of the options that end a wait. Each throws an `invalid-argument` error if the option is not
 * allowed.
 */

import { isSignal } from './check-arguments.js';
import { invalid } from './errors.js';

/** The longest timer that every engine supports: 2^31−1 ms, 24 days. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Checks the option `timeout`, and returns it.
 *
 * @param {unknown} timeout
 * @returns {number | undefined} in milliseconds; undefined if the wait has no limit
 */
export function checkTimeout(timeout) {
    if (timeout === undefined) return undefined;
    if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= timeoutMsMax)) {
        throw invalid('timeout', timeout, `a number of milliseconds from 0 to ${timeoutMsMax}`);
    }
    return timeout;
}

/**
 * Checks the option `signal` or `releaseSignal`, and returns it.
 *
 * @param {unknown} signal
 * @param {string} [argument] its name in error messages
 * @returns {AbortSignal | undefined}
 */
export function checkSignal(signal, argument = 'signal') {
    if (signal !== undefined && !isSignal(signal)) {
        throw invalid(argument, signal, 'an AbortSignal');
    }
    return signal;
}
