/** Waits in pages of the emulator, by the clock of the page; and lists of the events that a tab has dispatched. */

/**
 * Resolves after a time of the page's clock.
 *
 * @param {any} window
 * @param {number} delay_ms
 */
export const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/**
 * Waits until the condition holds. It is evaluated once in each millisecond of the page's clock. Only the time-out
 * of the test runner limits the wait.
 *
 * @param {any} window
 * @param {() => boolean | Promise<boolean>} condition
 */
export async function until(window, condition) {
    while (!(await condition())) await sleep(window, 1);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export const settled = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/**
 * The details of the events of a type that are dispatched from this call on, in a list that grows.
 *
 * @param {EventTarget} target
 * @param {string} type
 */
export function details(target, type) {
    /** @type {any[]} */
    const seen = [];
    target.addEventListener(type, (event) => seen.push(/** @type {CustomEvent} */ (event).detail));
    return seen;
}

/**
 * Fires an event of the page's lifecycle, as when the page enters the back/forward cache or leaves it. Unlike
 * `tab.bfcache()` of the emulator it lets the page's tasks go on.
 *
 * @param {any} window
 * @param {'pagehide' | 'pageshow'} type
 */
export function firePage(window, type) {
    window.dispatchEvent(new window.PageTransitionEvent(type, { persisted: true }));
}
