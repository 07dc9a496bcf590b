/** Draws how figures grow: a small plot for each panel, with logarithmic axes, of tabacus and of its peer. */

import { COLOURS, compact, escaped, styleOf } from '../../scripts/lib/chart.js';

/** @typedef {import('./rows.js').Judged & { plot: import('./rows.js').Plot }} Plotted */

const COLUMNS = 3;
const PANEL = { width: 280, height: 210, left: 44, right: 14, top: 40, bottom: 42 };
const TOP = 36;

const SERIES = /** @type {const} */ ([
    { of: 'ours', name: 'tabacus', colour: COLOURS[0], dash: '' },
    { of: 'peerValue', name: 'the platform alone', colour: COLOURS[1], dash: '5 3' },
]);

const STYLE = styleOf('font-weight: 600');

/**
 * Makes a logarithmic scale.
 *
 * @param {number[]} values @param {number} from  the coordinate of the least value @param {number} to
 */
function scale(values, from, to) {
    const [least, most] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
    const span = most - least || 1;
    return (/** @type {number} */ value) => from + ((Math.log10(value) - least) / span) * (to - from);
}

/** The powers of ten from the one below all values to the one above them. @param {number[]} values */
function decades(values) {
    const [least, most] = [
        Math.floor(Math.log10(Math.min(...values))),
        Math.ceil(Math.log10(Math.max(...values))),
    ];
    return Array.from({ length: Math.max(most - least, 1) + 1 }, (_, at) => 10 ** (least + at));
}

/** @param {Plotted[]} rows  of one panel @param {number} index */
function panel(rows, index) {
    const left = (index % COLUMNS) * PANEL.width;
    const top = TOP + Math.floor(index / COLUMNS) * PANEL.height;
    const [start, end] = [left + PANEL.left, left + PANEL.width - PANEL.right];
    const [upper, lower] = [top + PANEL.top, top + PANEL.height - PANEL.bottom];
    const [{ plot }] = /** @type {[Plotted]} */ (rows);
    const steps = decades(rows.flatMap(({ ours, peerValue }) => [ours, peerValue]));
    const [x, y] = [
        scale(
            rows.map((row) => row.plot.x),
            start,
            end,
        ),
        scale(steps, lower, upper),
    ];
    const grid = steps.flatMap((value) => [
        `<line class="grid" x1="${start}" x2="${end}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>`,
        `<text class="scale" x="${start - 5}" y="${(y(value) + 3).toFixed(1)}" text-anchor="end">${compact.format(value)}</text>`,
    ]);
    const sizes = rows.map(
        (row) =>
            `<text class="scale" x="${x(row.plot.x).toFixed(1)}" y="${lower + 14}" text-anchor="middle">${compact.format(row.plot.x)}</text>`,
    );
    const lines = SERIES.map(({ of, name, colour, dash }) => {
        const points = rows.map((row) => `${x(row.plot.x).toFixed(1)},${y(row[of]).toFixed(1)}`).join(' ');
        return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"><title>${name}</title></polyline>`;
    });
    return [
        `<text class="title" x="${left + 8}" y="${top + 22}">${escaped(plot.panel)}</text>`,
        ...grid,
        ...sizes,
        `<text class="scale" x="${(start + end) / 2}" y="${lower + 28}" text-anchor="middle">${escaped(plot.along)}</text>`,
        ...lines,
    ];
}

/** @param {number} at */
const legend = (at) => {
    const { name, colour, dash } = /** @type {typeof SERIES[number]} */ (SERIES[at]);
    const left = 8 + at * 120;
    return [
        `<line x1="${left}" x2="${left + 28}" y1="18" y2="18" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`,
        `<text x="${left + 34}" y="22">${name}</text>`,
    ];
};

/** Draws the rows that have a plot. @param {import('./rows.js').Judged[]} rows @returns {string} */
export function scaleSvg(rows) {
    const plotted = /** @type {Plotted[]} */ (
        rows.filter(({ plot, ours, peerValue }) => plot && ours > 0 && peerValue > 0)
    );
    const panels = [...new Set(plotted.map(({ plot }) => plot.panel))];
    const width = COLUMNS * PANEL.width;
    const height = TOP + Math.ceil(panels.length / COLUMNS) * PANEL.height;
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
        '<title>How the costs of locks and counters grow with the tabs and names beside them</title>',
        `<style>${STYLE}\n</style>`,
        `<rect class="paper" width="${width}" height="${height}"/>`,
        ...SERIES.flatMap((_, at) => legend(at)),
        ...panels.flatMap((name, index) =>
            panel(
                plotted.filter(({ plot }) => plot.panel === name),
                index,
            ),
        ),
        '</svg>\n',
    ].join('\n');
}
