/** A bound on real time for the host's promises. */

import { hostTimeout } from '../common/host-timers.js';

/**
 * Waits for a promise of the host.
 *
 * @template Value
 * @param {Promise<Value>} promise Requires that it is not rejected
 * @param {number} max_ms in real time
 * @returns {Promise<Value | undefined>} resolves to undefined if the promise does not settle in time
 */
export function withTimeLimit(promise, max_ms) {
    return new Promise((resolve) => {
        const cancel = hostTimeout(() => resolve(undefined), max_ms);
        promise.then((value) => {
            cancel();
            resolve(value);
        });
    });
}
