/** Conversion of the platform's exceptions into codes and messages of tabacus. */

/**
 * The answer of the host to an operation that failed.
 *
 * @typedef {[code: import('../core/generated/enums/error-code.js').ErrorCodeName, message: string]} Failure
 */

/**
 * Reports an exception that no caller can catch: as an `error` event of the window, as the platform does for
 * an exception of a listener; in Node, which has no such event, as an uncaught exception.
 *
 * @param {import('./host.js').Platform} platform
 * @param {unknown} error
 */
export function reportTo(platform, error) {
    if (!platform.reportError) {
        const raise = () => {
            throw error;
        };
        if (typeof queueMicrotask === 'function') queueMicrotask(raise);
        else setTimeout(raise);
        return;
    }
    try {
        platform.reportError(error);
    } catch {
        // A handler of error events has thrown. Nothing is left to do: the error was reported to it.
    }
}

/**
 * Returns what `read` returns, or undefined if it throws. In a page with blocked cookies, for example, the
 * mere access to `window.localStorage` throws a SecurityError.
 *
 * @template Part
 * @param {() => Part} read
 * @returns {Part | undefined}
 */
export function attempt(read) {
    try {
        return read() ?? undefined;
    } catch {
        return undefined;
    }
}

/**
 * Whether the page's origin is opaque (HTML §7.1.1). Such a page has the objects of stores and locks, but
 * they refuse every call. The origin of a page from a file may be written "null", too; there they work.
 *
 * @param {import('./host.js').Platform} platform
 */
export const isOpaque = ({ origin, location }) => origin === 'null' && location?.protocol !== 'file:';

/**
 * Returns the failure that an exception of a store stands for.
 *
 * @param {unknown} error
 * @returns {Failure}
 */
export function storeFailure(error) {
    const { name, message } = /** @type {Partial<DOMException>} */ (error ?? {});
    // Older versions of Firefox have a name of their own for a full localStorage.
    const full = name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED';
    return [
        full ? 'quota-exceeded' : 'store-failed',
        `${name ?? 'The transaction failed'}: ${message ?? ''}`,
    ];
}

/**
 * Whether an error of a transaction or of a request means that its connection is dead. An AbortError, or no error at
 * all, means that unless this page has aborted the transaction.
 *
 * @param {{ name: string, message: string } | null} error
 */
export const isDeath = (error) =>
    !error || ['UnknownError', 'InvalidStateError', 'AbortError'].includes(error.name);
