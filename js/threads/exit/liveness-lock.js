/** A thread's liveness lock: a Web Lock, which the browser releases when the thread exits, for whatever reason. */

/**
 * @param {string} prefix the memory's, or a segment's
 * @param {number} id the thread's
 */
const nameOf = (prefix, id) => `${prefix}/${id}`;

/** What is asked of `navigator.locks`. @typedef {Pick<LockManager, 'request'>} Locks */

/** @returns {Locks | undefined} */
const platformLocks = () => /** @type {any} */ (globalThis).navigator?.locks;

/**
 * Takes the liveness lock of this thread. Resolves once it is held, to the function that releases it; to
 * undefined where there are no Web Locks.
 *
 * @param {string} prefix
 * @param {number} id
 * @returns {Promise<(() => void) | undefined>}
 */
export function holdLivenessLock(prefix, id) {
    const locks = platformLocks();
    if (!locks) return Promise.resolve(undefined);
    return new Promise((resolve) => {
        const hold = () =>
            new Promise((/** @type {(value?: undefined) => void} */ end) => resolve(() => end()));
        // Refused (SecurityError) in a context without storage.
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
        .catch(() => {}); // the page itself is going
}
