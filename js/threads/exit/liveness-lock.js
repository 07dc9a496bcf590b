/**
 * A thread's liveness lock: a Web Lock that the thread holds. The browser releases it when the thread exits
 * for any reason.
 */

/**
 * Returns the name of a liveness lock.
 *
 * @param {string} prefix the prefix of the memory or of the segment
 * @param {number} id the number of the thread
 */
const nameOf = (prefix, id) => `${prefix}/${id}`;

/** The part of `navigator.locks` that is used. @typedef {Pick<LockManager, 'request'>} Locks */

/** Returns `navigator.locks`, if the platform has it. @returns {Locks | undefined} */
const platformLocks = () => /** @type {any} */ (globalThis).navigator?.locks;

/**
 * Acquires the liveness lock of this thread.
 *
 * @param {string} prefix
 * @param {number} id
 * @returns {Promise<(() => void) | undefined>} resolves once the lock is held, with a function that releases
 *   it; with undefined if there are no Web Locks
 */
export function holdLivenessLock(prefix, id) {
    const locks = platformLocks();
    if (!locks) return Promise.resolve(undefined);
    return new Promise((resolve) => {
        const hold = () =>
            new Promise((/** @type {(value?: undefined) => void} */ end) => resolve(() => end()));
        // In a context without storage the request is refused with a SecurityError.
        locks.request(nameOf(prefix, id), hold).catch(() => resolve(undefined));
    });
}

/**
 * Calls `onExit` once the thread has exited. Requires that it has held its liveness lock before.
 *
 * @param {string} prefix
 * @param {number} id
 * @param {() => void} onExit
 */
export function watchExit(prefix, id, onExit) {
    platformLocks()
        ?.request(nameOf(prefix, id), onExit)
        .catch(() => {}); // the request fails when the page itself is closed
}
