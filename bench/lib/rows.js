/**
 * What a benchmark says: ours beside its peer, measured in the same run, and the ratio that it is to
 * reach. All figures are medians; the samples go into the JSON.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} unit  of both figures
 * @property {string} peer  what ours stands beside, in words
 * @property {{ ours: number[], peer: number[] }} samples
 * @property {{ most: number } | { least: number }} target  of the ratio ours : peer
 * @property {string} [broken]  why it is missed whatever the ratio
 * @property {string} [note]
 */

/** @param {number[]} samples */
export function median(samples) {
    const sorted = samples.toSorted((a, b) => a - b);
    const middle = sorted.length >> 1;
    const [low = NaN, high = NaN] = sorted.slice(middle - 1 + (sorted.length % 2), middle + 1);
    return sorted.length % 2 === 1 ? low : (low + high) / 2;
}

/** @param {Row} row */
export function judge(row) {
    const [ours, peer] = [median(row.samples.ours), median(row.samples.peer)];
    const ratio = ours / peer;
    const reached = 'most' in row.target ? ratio <= row.target.most : ratio >= row.target.least;
    return { ...row, ours, peerValue: peer, ratio, met: reached && row.broken === undefined };
}

/** @typedef {ReturnType<typeof judge>} Judged */
