/** The option `releaseSignal` of a request for a lock: a signal that ends the hold. */

/**
 * Loses and releases the locks when the signal aborts. A commit that has begun ends before the lock is
 * released. The listeners are removed when a lock is released, because the signal may live for much longer.
 *
 * @param {AbortSignal} signal
 * @param {import('./held.js').Held[]} held
 * @throws the reason of the signal, if it has aborted before the locks were granted
 */
export function releaseOn(signal, held) {
    for (const one of held) {
        const end = () => {
            one._end(signal.reason);
            one.release();
        };
        signal.addEventListener('abort', end);
        one._released = () => signal.removeEventListener('abort', end);
        if (signal.aborted) end();
    }
    if (held.length > 0) signal.throwIfAborted();
}
