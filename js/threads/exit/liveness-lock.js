/** A thread's sign of life: a Web Lock, which the browser frees when the thread dies, whatever it dies of. */

/**
 * @param {string} life the memory's
 * @param {number} id the thread's
 */
const nameOf = (life, id) => `${life}/${id}`;

/** What is asked of `navigator.locks`. @typedef {Pick<LockManager, 'request'>} Locks */

/** @returns {Locks | undefined} */
const platformLocks = () => /** @type {any} */ (globalThis).navigator?.locks;

/**
 * Resolves when the sign is there, to what takes it away; to undefined where there are no Web Locks.
 *
 * @param {string} life
 * @param {number} id
 * @returns {Promise<(() => void) | undefined>}
 */
export function live(life, id) {
    const locks = platformLocks();
    if (!locks) return Promise.resolve(undefined);
    return new Promise((resolve) => {
        const alive = () =>
            new Promise((/** @type {(value?: undefined) => void} */ end) => resolve(() => end()));
        // Refused (SecurityError) in a context without storage.
        locks.request(nameOf(life, id), alive).catch(() => resolve(undefined));
    });
}

/**
 * Calls `dead` once the thread is. It has shown its sign before.
 *
 * @param {string} life
 * @param {number} id
 * @param {() => void} dead
 */
export function watch(life, id, dead) {
    platformLocks()
        ?.request(nameOf(life, id), dead)
        .catch(() => {}); // the page itself is going
}
