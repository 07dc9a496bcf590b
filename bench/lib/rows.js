/**
 * The place of a row in docs/scale.svg: the title of its panel, the quantity of the horizontal axis, and the value of
 * that quantity.
 *
 * @typedef {{ panel: string, along: string, x: number }} Plot
 */

/**
 * One result of a benchmark: samples of tabacus and of a peer from the same run, and the target of the ratio of their
 * medians. The table shows the medians; the JSON has the samples too.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} unit  of both figures
 * @property {string} peer  a name or description of what tabacus is compared with
 * @property {{ ours: number[], peer: number[] }} samples
 * @property {{ most: number } | { least: number }} target  of the ratio ours / peer
 * @property {string} [broken]  why the target is missed whatever the ratio is
 * @property {string} [note]
 * @property {Plot} [plot]
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
