/**
 * Progress: one line a step, with the time it took. On standard error, since the standard output is
 * for results.
 */

/** @param {number} since_ms */
export const seconds = (since_ms) => `${((Date.now() - since_ms) / 1000).toFixed(1)} s`;

/**
 * Runs a step and prints how it ended. A step that takes long says first that it has begun.
 * @template T
 * @param {string} name
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function step(name, body) {
    const begun = Date.now();
    const notice = setTimeout(() => console.error(`· ${name} …`), 1000);
    try {
        const result = await body();
        console.error(`✓ ${name} (${seconds(begun)})`);
        return result;
    } catch (error) {
        console.error(`✗ ${name} (${seconds(begun)})`);
        throw error;
    } finally {
        clearTimeout(notice);
    }
}
