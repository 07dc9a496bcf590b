/** Draws the comparison as a chart: the lost share and the rate of each strategy, on logarithmic scales. */

import { COLOURS, compact, escaped, styleOf } from './chart.js';
import { percent } from './compare-table.js';

/**
 * @typedef {object} Run
 * @property {string} engine
 * @property {import('./compare-statistics.js').Row[]} rows
 */

const WIDTH = 860;
const NAME_WIDTH = 120;
const PANEL_WIDTH = 340;
const PANEL_GAP = 30;
/** The space at the end of a panel for the figure of the longest bar. */
const FIGURE_WIDTH = 64;
const TOP = 78;
const BAR_HEIGHT = 12;
const BAR_GAP = 2;
const GROUP_GAP = 12;

const STYLE = styleOf('font-weight: 600; font-size: 14px');

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {number} least  where the scale begins
 * @property {number} most
 * @property {(row: import('./compare-statistics.js').Row) => number} of
 * @property {(value: number) => string} words
 */

/** @param {number} rate */
const perSecond = (rate) => (rate === 0 ? '0' : `${compact.format(rate)}/s`);

/** @type {Panel[]} */
const PANELS = [
    { title: 'Increments lost', least: 1e-4, most: 1, of: ({ lost }) => lost, words: percent },
    { title: 'Increments a second, all tabs', least: 1, most: 1e8, of: ({ rate }) => rate, words: perSecond },
];

/**
 * The position of a value on a logarithmic scale.
 *
 * @param {number} value
 * @param {{ least: number, most: number }} scale
 * @returns {number} 0 to 1; at least 0.01 for a value above 0, so that its bar is visible
 */
export function position(value, { least, most }) {
    if (!(value > 0)) return 0;
    const at = Math.log(value / least) / Math.log(most / least);
    return Math.min(1, Math.max(0.01, at));
}

/** @param {number} panel */
const left = (panel) => NAME_WIDTH + panel * (PANEL_WIDTH + PANEL_GAP);

/** @param {Panel} panel @param {number} index @param {number} bottom */
function frame({ title, least, most, words }, index, bottom) {
    const parts = [`<text class="title" x="${left(index)}" y="${TOP - 26}">${title}</text>`];
    const steps = Math.round(Math.log10(most / least));
    for (let step = 0; step <= steps; step += steps > 4 ? 2 : 1) {
        const value = least * 10 ** step;
        const x = left(index) + position(value, { least, most }) * (PANEL_WIDTH - FIGURE_WIDTH);
        const at = (step === 0 ? left(index) : x).toFixed(1);
        parts.push(
            `<line class="grid" x1="${at}" x2="${at}" y1="${TOP - 4}" y2="${bottom}"/>`,
            `<text class="scale" x="${at}" y="${TOP - 9}" text-anchor="middle">${words(value)}</text>`,
        );
    }
    return parts;
}

/**
 * @param {Panel} panel
 * @param {number} index
 * @param {number} y
 * @param {Run} run
 * @param {number} engine
 * @param {string} strategy
 */
function bar(panel, index, y, { engine: name, rows }, engine, strategy) {
    const row = rows.find((one) => one.strategy === strategy);
    if (!row) return [];
    const value = panel.of(row);
    const width = position(value, panel) * (PANEL_WIDTH - FIGURE_WIDTH);
    const words = panel.words(value);
    return [
        `<rect x="${left(index)}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${COLOURS[engine % COLOURS.length]}">`,
        `<title>${escaped(`${strategy}, ${name}: ${words}`)}</title></rect>`,
        `<text x="${(left(index) + width + 4).toFixed(1)}" y="${y + BAR_HEIGHT - 2}">${escaped(words)}</text>`,
    ];
}

/** @param {Run[]} runs */
const legend = (runs) =>
    runs.flatMap(({ engine }, i) => [
        `<rect x="${NAME_WIDTH + i * 180}" y="14" width="12" height="12" fill="${COLOURS[i % COLOURS.length]}"/>`,
        `<text x="${NAME_WIDTH + i * 180 + 18}" y="24">${escaped(engine)}</text>`,
    ]);

/** @param {Run[]} runs  one of each engine @returns {string} */
export function svg(runs) {
    const strategies = [...new Set(runs.flatMap(({ rows }) => rows.map(({ strategy }) => strategy)))];
    const pitch = runs.length * (BAR_HEIGHT + BAR_GAP) + GROUP_GAP;
    const bottom = TOP + strategies.length * pitch;
    const groups = strategies.flatMap((strategy, at) => {
        const top = TOP + 4 + at * pitch;
        const bars = PANELS.flatMap((panel, index) =>
            runs.flatMap((run, i) => bar(panel, index, top + i * (BAR_HEIGHT + BAR_GAP), run, i, strategy)),
        );
        return [`<text x="0" y="${top + BAR_HEIGHT - 2}">${escaped(strategy)}</text>`, ...bars];
    });
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 0 ${WIDTH + 12} ${bottom + 12}" role="img">`,
        '<title>Counters hammered by several real tabs: what was lost, and how fast</title>',
        `<style>${STYLE}\n</style>`,
        `<rect class="paper" x="-12" y="0" width="${WIDTH + 12}" height="${bottom + 12}"/>`,
        ...legend(runs),
        ...PANELS.flatMap((panel, index) => frame(panel, index, bottom)),
        ...groups,
        '</svg>\n',
    ].join('\n');
}
