/**
 * Prints the progress of a script: one line for each step, with the time that it took. The lines go to standard error,
 * since the standard output is for results.
 */

/** @param {number} since_ms */
export const seconds = (since_ms) => `${((Date.now() - since_ms) / 1000).toFixed(1)} s`;

/**
 * Runs a step and prints how it ended. If it takes longer than a second, a line first shows that it has begun.
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
