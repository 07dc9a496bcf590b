/** Plots by uPlot the increments per second during a race, with a line for each strategy. */

import { one } from './dom.js';
import { compact } from './format.js';
import { REPORT_ms as BIN_ms } from './race.js';
import { STRATEGIES } from './strategies.js';

// @ts-ignore: an address of the served page; the types are those of the devDependency.
import UPlot from './uplot/uPlot.esm.js';

/** @type {typeof import('uplot')} */
const Plot = UPlot;

const HEIGHT_px = 280;

/** @param {import('./channel.js').Channel} channel */
export function showPlot(channel) {
    const box = /** @type {HTMLElement} */ (one('#plot'));
    const rates = new Rates();
    const draw = () => new Plot(options(box.clientWidth), rates.table(), box);
    let plot = draw();
    const redraw = () => plot.setData(rates.table());

    channel.on('race', ({ duration_ms }) => {
        rates.clear(duration_ms);
        redraw();
    });
    channel.on('progress', (progress) => {
        rates.add(progress);
        redraw();
    });
    channel.on('finish', () => {
        box.setAttribute('aria-label', 'Rates of the last race; the cards have them in figures.');
    });
    new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT_px })).observe(box);
    // uPlot copies colours into its legend when it is made, so a new theme needs a new plot.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        plot.destroy();
        plot = draw();
    });
}

/** Adds up the reports of the tabs as increments per second, for each strategy and bin of time. */
class Rates {
    /** @type {Map<string, number[]>} by strategy */
    #bins = new Map();
    /** @type {Map<string, { attempted: number, elapsed_ms: number }>} by strategy and tab */
    #last = new Map();

    #length = 0;

    /** Begins a new race. @param {number} duration_ms  of each strategy */
    clear(duration_ms) {
        this.#length = Math.floor(duration_ms / BIN_ms);
        this.#bins.clear();
        this.#last.clear();
    }

    /** @param {{ strategy: string, tab: string, attempted: number, elapsed_ms: number }} progress */
    add({ strategy, tab, attempted, elapsed_ms }) {
        const key = `${strategy} ${tab}`;
        const last = this.#last.get(key) ?? { attempted: 0, elapsed_ms: 0 };
        if (elapsed_ms <= last.elapsed_ms) return;
        this.#last.set(key, { attempted, elapsed_ms });
        const bins = this.#bins.get(strategy) ?? [];
        const perSecond = ((attempted - last.attempted) / (elapsed_ms - last.elapsed_ms)) * 1000;
        const first = Math.floor(last.elapsed_ms / BIN_ms);
        const end = Math.min(this.#length, Math.floor(elapsed_ms / BIN_ms));
        for (let bin = first; bin < end; bin += 1) bins[bin] = (bins[bin] ?? 0) + perSecond;
        this.#bins.set(strategy, bins);
    }

    /** @returns {import('uplot').AlignedData} seconds, then a column for each strategy */
    table() {
        const times = Array.from({ length: this.#length }, (_, bin) => ((bin + 0.5) * BIN_ms) / 1000);
        const columns = STRATEGIES.map(({ name }) => {
            const bins = this.#bins.get(name) ?? [];
            // A logarithmic axis cannot show zero.
            return times.map((_, bin) => bins[bin] || null);
        });
        return [times, ...columns];
    }
}

/** A function that reads a colour when the plot is drawn. @param {string} name  of a custom property of CSS */
const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name);

/** @returns {import('uplot').Options} */
function options(/** @type {number} */ width) {
    const axis = {
        stroke: colour('--quiet'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
    };
    return {
        width,
        height: HEIGHT_px,
        cursor: { y: false },
        scales: {
            x: { time: false, range: (_, __, max) => [0, Math.max(1, Math.ceil(max ?? 0))] },
            y: { distr: 3, range: (_, min, max) => decades(min, max) },
        },
        axes: [
            { ...axis, incrs: [0.5, 1, 2, 5], values: (_, seconds) => seconds.map((s) => `${s} s`) },
            {
                ...axis,
                size: 56,
                splits: (_, __, min, max) => powersOfTen(min, max),
                values: (_, rates) => rates.map(compact),
            },
        ],
        series: [
            { label: 'Time', value: (_, s) => (s === null ? '–' : `${s.toFixed(2)} s`) },
            ...STRATEGIES.map(({ name }) => ({
                label: name,
                stroke: colour(`--${name}`),
                width: 2,
                points: { show: false },
                value: (/** @type {unknown} */ _, /** @type {number | null} */ rate) =>
                    rate === null ? '–' : compact(rate),
            })),
        ],
    };
}

/**
 * @param {number | null} min
 * @param {number | null} max
 * @returns {[number, number]} the smallest range of whole decades around both
 */
function decades(min, max) {
    if (!min || !max) return [100, 1e8];
    return [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(max))];
}

/** @param {number} min @param {number} max */
function powersOfTen(min, max) {
    const first = Math.round(Math.log10(min));
    const count = Math.round(Math.log10(max)) - first + 1;
    return Array.from({ length: count }, (_, i) => 10 ** (first + i));
}
