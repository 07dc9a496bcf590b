/** A reproducible stream of numbers: splitmix32, for the tests and for the page under test. */

/**
 * @param {number} seed
 * @returns {(below: number) => number} the next integer from 0 up to, and not including, `below`
 */
export function seededRandom(seed) {
    let state = seed | 0;
    return (below) => {
        state = (state + 0x9e3779b9) | 0;
        let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
        bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
        return ((bits ^ (bits >>> 15)) >>> 0) % below;
    };
}
