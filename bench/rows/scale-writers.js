/** Many tabs that add to one counter and flush, beside as many that write a row each. */

import { options } from '../lib/options.js';
import { callLong, inStep, processorTime, sizesOr, withMoreTabs } from '../lib/scale.js';

const SIZES = sizesOr(options.short ? [2, 5, 10] : [2, 5, 10, 20, 30, 60]);
const DURATION_MS = options.short ? 1_000 : 4_000;

/** @typedef {import('../lib/scale.js').Tab} Tab */
/** @typedef {'ours' | 'peer'} Subject */

/** @param {Tab[]} tabs @param {Subject[]} subjects @returns {Promise<Record<Subject, number[]>[]>} for each tab */
const writeIn = (tabs, subjects) =>
    inStep(DURATION_MS, (from_ms, until_ms) =>
        Promise.all(tabs.map((tab) => callLong(tab, 'write', subjects, from_ms, until_ms))),
    );

/** @param {number[]} samples @param {number} share */
const quantile = (samples, share) => {
    const sorted = samples.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
};

/** The processor time of the browser for each write. @param {import('../lib/context.js').Context} context @param {Tab[]} tabs @param {Subject} subject */
async function processorTimeEach(context, tabs, subject) {
    const before_ms = await processorTime(context);
    const took = await writeIn(tabs, [subject]);
    const writes = took.reduce((sum, one) => sum + one[subject].length, 0);
    return ((await processorTime(context)) - before_ms) / writes;
}

/** @param {import('../lib/context.js').Context} context @param {Tab[]} tabs @returns {Promise<import('../lib/rows.js').Row[]>} */
async function measure(context, tabs) {
    const ours = await processorTimeEach(context, tabs, 'ours');
    const peer = await processorTimeEach(context, tabs, 'peer');
    const both = await writeIn(tabs, ['ours', 'peer']);
    const all = (/** @type {Subject} */ subject) => both.flatMap((one) => one[subject]);
    const size = tabs.length;
    return [
        {
            name: `processor time of an add that is flushed, ${size} tabs`,
            unit: 'ms',
            peer: 'a bare transaction',
            samples: { ours: [ours], peer: [peer] },
            target: { most: 5 },
            plot: { panel: 'Processor time of a flushed add, in ms', along: 'writing tabs', x: size },
        },
        {
            name: `the slowest 1 % of flush(), ${size} tabs`,
            unit: 'ms',
            peer: 'a bare transaction in the same turns',
            samples: { ours: [quantile(all('ours'), 0.99)], peer: [quantile(all('peer'), 0.5)] },
            target: { most: 5 },
        },
    ];
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export const scaleWriters = (context) =>
    withMoreTabs(context, SIZES, 'writers', (tabs) => measure(context, tabs));
