/** Many tabs that contend for one lock: by tab.lock(), and by navigator.locks alone. */

import { options } from '../lib/options.js';
import { callLong, inStep, sizesOr, withMoreTabs } from '../lib/scale.js';

const SIZES = sizesOr(options.short ? [2, 5, 10] : [2, 5, 10, 20, 30, 60]);
const ROUNDS = options.short ? 3 : 5;

/** All rounds of a size together are a window of ten seconds. */
const DURATION_MS = options.short ? 1_000 : 2_000;

/** @typedef {import('../lib/scale.js').Tab} Tab */

/**
 * Lets all tabs contend.
 *
 * @param {Tab[]} tabs @param {'ours' | 'peer'} subject @param {'sync' | 'task'} body
 * @returns {Promise<number[]>} how often each tab got the lock
 */
const grantsOf = (tabs, subject, body) =>
    inStep(DURATION_MS, (from_ms, until_ms) =>
        Promise.all(tabs.map((tab) => callLong(tab, 'contend', subject, body, from_ms, until_ms))),
    );

/** The grants of the least served tab, as a share of those of the most served. @param {number[]} grants */
const shareOf = (grants) => Math.min(...grants) / Math.max(...grants);

/** @param {Tab[]} tabs @param {'sync' | 'task'} body @returns {Promise<import('../lib/rows.js').Row[]>} */
async function measure(tabs, body) {
    const rates = { ours: /** @type {number[]} */ ([]), peer: /** @type {number[]} */ ([]) };
    const grants = { ours: tabs.map(() => 0), peer: tabs.map(() => 0) };
    for (let round = 0; round < ROUNDS; round++) {
        for (const subject of /** @type {const} */ (['ours', 'peer'])) {
            const got = await grantsOf(tabs, subject, body);
            rates[subject].push((got.reduce((sum, one) => sum + one, 0) * 1_000) / DURATION_MS);
            got.forEach((one, at) => (grants[subject][at] = (grants[subject][at] ?? 0) + one));
        }
    }
    const what = body === 'sync' ? 'synchronous body' : 'body of one task';
    const size = tabs.length;
    return [
        {
            name: `lock, ${size} tabs contending, ${what}`,
            unit: '1/s',
            peer: 'navigator.locks',
            samples: rates,
            target: { least: size <= 30 ? 0.8 : 1.5 },
            plot: { panel: `Grants a second, ${what}`, along: 'contending tabs', x: size },
        },
        {
            name: `the least served of ${size} tabs, ${what}`,
            unit: 'of the most',
            peer: 'half; navigator.locks has ' + shareOf(grants.peer).toFixed(2),
            samples: { ours: [shareOf(grants.ours)], peer: [0.5] },
            target: { least: 1 },
        },
    ];
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export const scaleContenders = (context) =>
    withMoreTabs(context, SIZES, 'contenders', async (tabs) => {
        await Promise.all(tabs.map((tab) => callLong(tab, 'load')));
        return [...(await measure(tabs, 'sync')), ...(await measure(tabs, 'task'))];
    });
