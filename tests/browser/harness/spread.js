/** The spread of measured times, as text. Tests report it, and no test asserts it. */

/** @param {number[]} times_ms in any order @returns {string} their median and 99th percentile */
export function spread(times_ms) {
    const sorted = times_ms.toSorted((a, b) => a - b);
    const at = (/** @type {number} */ share) =>
        Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? NaN);
    return `median ${at(0.5)}, 99 % ${at(0.99)}`;
}
