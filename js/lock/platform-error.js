import { DeadlockError } from '../common/errors.js';

/**
 * Replaces the core's error of an abort, a timeout or a deadlock by the one that the application expects: the
 * signal's reason, a DOMException, a DeadlockError.
 *
 * @param {import('../common/errors.js').TabacusError} error
 * @param {(AbortSignal | undefined)[]} signals
 */
export function platformError(error, signals) {
    const { code, message } = /** @type {{ code: string, message: string }} */ (error);
    if (code === 'aborted') {
        const signal = signals.find((one) => one?.aborted);
        return signal ? signal.reason : new DOMException(message, 'AbortError');
    }
    if (code === 'timed-out') return new DOMException(message, 'TimeoutError');
    if (code === 'deadlock') return new DeadlockError(message);
    return error;
}
