/** How failures of the platform become codes and messages of ours. */

/**
 * How the host answers an operation that failed: [code, message].
 *
 * @typedef {[code: import('../core/generated/enums/error-code.js').ErrorCodeName, message: string]} Failure
 */

/**
 * What an exception in nobody's reach becomes: an `error` event of the window, as with a listener; in
 * Node, which has no such event for it, an uncaught exception.
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
        // A handler of error events that throws has run all the same.
    }
}

/**
 * A part of the platform, or nothing where reading it throws: a page whose cookies are blocked gets a
 * SecurityError from the mere mention of localStorage.
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
 * Whether the page's origin is opaque (HTML §7.1.1): it has the objects of stores and locks, which refuse
 * every call. A file's may be written "null" too, and has them.
 *
 * @param {import('./host.js').Platform} platform
 */
export const isOpaque = ({ origin, location }) => origin === 'null' && location?.protocol !== 'file:';

/**
 * The failure that an exception of a store stands for.
 *
 * @param {unknown} error
 * @returns {Failure}
 */
export function storeFailure(error) {
    const { name, message } = /** @type {Partial<DOMException>} */ (error ?? {});
    // Firefox had a name of its own for a full localStorage.
    const full = name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED';
    return [
        full ? 'quota-exceeded' : 'store-failed',
        `${name ?? 'The transaction failed'}: ${message ?? ''}`,
    ];
}
