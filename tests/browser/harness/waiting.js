/** Waits with a time limit, so that no test hangs. A test fails if it reaches the limit. */

/** The limit is long enough for a busy machine with two cores: a test that reaches it hangs. */
export const TIMEOUT_MS = 30_000;

const POLL_MS = 10;

/** @param {number} delay_ms */
export const delay = (delay_ms) => new Promise((resolve) => setTimeout(resolve, delay_ms));

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what  a name for the awaited event, for the error
 * @param {number} [limit_ms]
 * @returns {Promise<T>}
 */
export function within(promise, what, limit_ms = TIMEOUT_MS) {
    /** @type {NodeJS.Timeout} */
    let timer;
    const limit = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`waited ${limit_ms} ms for ${what}`)), limit_ms);
    });
    return Promise.race([promise, /** @type {Promise<never>} */ (limit)]).finally(() => {
        clearTimeout(timer);
    });
}

/**
 * Polls a condition that fires no event, such as the state of a process. Resolves with the first truthy result.
 *
 * @template T
 * @param {() => T | Promise<T>} probe
 * @param {string} what
 * @param {number} [limit_ms]
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(probe, what, limit_ms = TIMEOUT_MS) {
    const end_ms = performance.now() + limit_ms;
    for (;;) {
        const result = await probe();
        if (result) return result;
        if (performance.now() > end_ms) throw new Error(`waited ${limit_ms} ms for ${what}`);
        await delay(POLL_MS);
    }
}
