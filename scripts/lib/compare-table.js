/** Lays out the comparison as a table, for a terminal or in Markdown. */

/** @typedef {import('./compare-statistics.js').Row} Row */

/** @param {number} value @param {number} [digits] */
const short = (value, digits = 2) =>
    value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(digits)));

/** @param {number} share 0 to 1 @returns {string} per cent; `0` only for a share that is exactly 0 */
export const percent = (share) => (share === 0 ? '0' : `${short(share * 100)} %`);

/** @param {number} ms */
export function duration(ms) {
    if (!Number.isFinite(ms)) return '–';
    if (ms < 0.001) return `${short(ms * 1e6)} ns`;
    if (ms < 1) return `${short(ms * 1000)} µs`;
    return ms < 1000 ? `${short(ms)} ms` : `${short(ms / 1000)} s`;
}

/** @param {{ p50: number, p99: number }} spread */
const spread = ({ p50, p99 }) => (Number.isNaN(p50) ? '–' : `${duration(p50)}, ${duration(p99)}`);

const HEAD = ['strategy', 'lost', 'a second', 'an increment (p50, p99)', 'seen (p50, p99)', 'tabs agree', ''];
const RIGHT = new Set([1, 2, 3, 4]);

/** @param {Row} row */
const remarks = ({ extra, missed, stuck, failed }) =>
    [
        extra > 0 && `${short(extra)} counted twice`,
        missed > 0 && `not seen in time: ${missed}`,
        stuck > 0 && `stuck in ${stuck} ${stuck === 1 ? 'tab' : 'tabs'}`,
        failed > 0 && `${short(failed)} failed`,
    ]
        .filter(Boolean)
        .join('; ');

/** @param {Row} row */
export const cells = (row) => [
    row.strategy,
    percent(row.lost),
    short(row.rate, 3),
    spread(row.add_ms),
    spread(row.seen_ms),
    row.converged ? 'yes' : 'no',
    remarks(row),
];

/** @param {Row[]} rows @returns {string} */
export function table(rows) {
    const lines = [HEAD, ...rows.map(cells)];
    const widths = HEAD.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
    /** @param {string} cell @param {number} i */
    const pad = (cell, i) => (RIGHT.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0));
    return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

/** @param {Row[]} rows @returns {string} */
export function markdown(rows) {
    /** @param {string[]} line */
    const laid = (line) => `| ${line.join(' | ')} |`;
    const rule = HEAD.map((_, i) => (RIGHT.has(i) ? '---:' : '---'));
    return [HEAD, rule, ...rows.map(cells)].map(laid).join('\n');
}
