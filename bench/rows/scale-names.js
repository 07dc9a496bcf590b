/** One tab that holds many locks at once, beside the platform's own requests. */

import { call } from '../lib/context.js';
import { options } from '../lib/options.js';
import { median } from '../lib/rows.js';
import { callLong, openTabs } from '../lib/scale.js';

const SIZES = options.short ? [100, 1_000] : [100, 1_000, 10_000];
const ROUNDS = options.short ? 1 : 3;

/** @typedef {{ each_us: number, more_ms: number }} Figures */

/**
 * @param {import('../lib/scale.js').Tab} tab @param {number} size @param {'exclusive' | 'shared'} mode
 * @returns {Promise<Record<'ours' | 'parts' | 'native', Figures[]>>}
 */
async function measure(tab, size, mode) {
    /** @type {Record<'ours' | 'parts' | 'native', Figures[]>} */
    const figures = { ours: [], parts: [], native: [] };
    for (let round = 0; round < ROUNDS; round++) {
        for (const [how, list] of Object.entries(figures)) {
            const names = Array.from({ length: size }, (_, at) => `${how} ${mode} ${size} ${round} ${at}`);
            list.push(await callLong(tab, 'holdNames', how, names, mode));
        }
    }
    return figures;
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function scaleNames(context) {
    const rows = [];
    /** @type {number | undefined} */
    let fewest_ms;
    for (const size of SIZES) {
        for (const mode of /** @type {const} */ (['exclusive', 'shared'])) {
            const [tab] = /** @type {[import('../lib/scale.js').Tab]} */ (await openTabs(context, 1));
            await call(tab, 'start', `names ${mode} ${size}`);
            await callLong(tab, 'holdNames', 'ours', ['the first'], mode); // its module is loaded
            const { ours, parts, native } = await measure(tab, size, mode);
            await tab.close();
            const each = (/** @type {Figures[]} */ list) => list.map(({ each_us }) => each_us);
            const more = ours.map(({ more_ms }) => more_ms);
            fewest_ms ??= median(more);
            const samples = { ours: each(ours), peer: each(parts) };
            const panel = `Holding ${mode} locks, each, in µs`;
            rows.push(
                {
                    name: `${size.toLocaleString('en')} ${mode} locks held by one tab, each`,
                    unit: 'µs',
                    peer: 'requests and rows',
                    samples,
                    target: { most: 3 },
                    note: `${(median(samples.ours) / median(each(native))).toFixed(2)} × one native request a name`,
                    plot: { panel, along: 'names', x: size },
                },
                {
                    name: `one more ${mode} lock beside ${size.toLocaleString('en')}`,
                    unit: 'ms',
                    peer: `beside ${SIZES[0]}`,
                    samples: { ours: more, peer: [fewest_ms] },
                    target: { most: 2 },
                },
            );
        }
    }
    return rows;
}
