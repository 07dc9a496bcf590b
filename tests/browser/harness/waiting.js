/** Waiting for what is to happen, with a limit that only ever fails a test: nothing may hang. */

/** Long enough for a busy machine with two cores. A test that meets it has hung. */
export const TIMEOUT_MS = 30_000;

const POLL_MS = 10;

/** @param {number} delay_ms */
export const delay = (delay_ms) => new Promise((resolve) => setTimeout(resolve, delay_ms));

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what  what is waited for, as text
 * @param {number} [limit_ms]
 * @returns {Promise<T>}
 */
export function within(promise, what, limit_ms = TIMEOUT_MS) {
    /** @type {NodeJS.Timeout} */
    let timer;
    const limit = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`hung: ${what} (${limit_ms} ms)`)), limit_ms);
    });
    return Promise.race([promise, /** @type {Promise<never>} */ (limit)]).finally(() => {
        clearTimeout(timer);
    });
}

/**
 * For what announces itself to nobody, such as the state of a process. Returns the first result
 * that is truthy.
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
        if (performance.now() > end_ms) throw new Error(`hung: ${what} (${limit_ms} ms)`);
        await delay(POLL_MS);
    }
}
