/** Lays out judged rows as a table for a terminal. */

/** @typedef {import('./rows.js').Judged} Judged */

/** Rounds to three digits, since a benchmark is no more precise. @param {number} figure */
function digits(figure) {
    if (!Number.isFinite(figure)) return '–';
    if (Math.abs(figure) >= 1000) return Math.round(figure).toLocaleString('en');
    return String(Number(figure.toPrecision(3)));
}

/** @param {Judged['target']} target */
const words = (target) => ('most' in target ? `≤ ${target.most} ×` : `≥ ${target.least} ×`);

/** @param {Judged} row */
const cells = (row) => [
    row.name,
    `${digits(row.ours)} ${row.unit}`,
    `${digits(row.peerValue)} ${row.unit}`,
    row.peer,
    `${digits(row.ratio)} ×`,
    words(row.target),
    row.met ? '✓ met' : '✗ missed',
];

const HEAD = ['', 'ours', 'peer', 'which is', 'ratio', 'target', ''];
const RIGHT = new Set([1, 2, 4, 5]);

/** @param {Judged[]} rows */
export function table(rows) {
    const lines = [HEAD, ...rows.map(cells)];
    const widths = HEAD.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
    const laid = lines.map((line) =>
        line
            .map((cell, i) => (RIGHT.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
            .join('  ')
            .trimEnd(),
    );
    const remarks = rows.flatMap(({ name, broken, note }) =>
        [broken, note].flatMap((text) => (text ? [`${name}: ${text}`] : [])),
    );
    return [...laid, ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n');
}
