/** Checks of what ends a wait. Each check throws an `invalid-argument` error. */

import { isSignal } from './check-arguments.js';
import { invalid } from './errors.js';

/** The longest timer that every engine counts: 2^31−1 ms, 24 days. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * @param {unknown} timeout
 * @returns {number | undefined} in milliseconds; undefined is for ever
 */
export function checkTimeout(timeout) {
    if (timeout === undefined) return undefined;
    if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= timeoutMsMax)) {
        throw invalid('timeout', timeout, `a number of milliseconds from 0 to ${timeoutMsMax}`);
    }
    return timeout;
}

/**
 * @param {unknown} signal
 * @returns {AbortSignal | undefined}
 */
export function checkSignal(signal) {
    if (signal !== undefined && !isSignal(signal)) {
        throw invalid('signal', signal, 'an AbortSignal');
    }
    return signal;
}
