/** A long queue of jobs with and without keys, and 16 workers in one tab and over 16 tabs. */

import { call } from '../lib/context.js';
import { options } from '../lib/options.js';
import { callLong, callLongInAll, openTabs } from '../lib/scale.js';

const JOBS = options.short ? 5_000 : 100_000;
const SHARED_JOBS = options.short ? 500 : 4_000;
const TABS = options.short ? 4 : 16;

/** @typedef {import('../lib/scale.js').Tab} Tab */

let last = 0;

/** @param {Tab[]} tabs @returns {Promise<number>} jobs a second */
async function handleIn(tabs) {
    const name = `shared ${++last}`;
    await callLong(/** @type {Tab} */ (tabs[0]), 'fill', name, SHARED_JOBS);
    const began_ms = performance.now();
    await callLongInAll(tabs, 'handle', name);
    return (SHARED_JOBS * 1_000) / (performance.now() - began_ms);
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function scaleQueue(context) {
    const tabs = await openTabs(context, TABS);
    for (const tab of tabs) await call(tab, 'start', 'scale queue');
    const first = /** @type {Tab} */ (tabs[0]);
    /** @type {Record<'enqueue' | 'drain', number[]>} */
    const took = { enqueue: [], drain: [] };
    for (const keyed of [true, false]) {
        took.enqueue.push(await callLong(first, 'enqueue', `keyed ${keyed}`, JOBS, keyed));
        took.drain.push(await callLong(first, 'drain', `keyed ${keyed}`, JOBS));
    }
    const alone = await handleIn([first]);
    const together = await handleIn(tabs);
    await Promise.all(tabs.map((tab) => tab.close()));
    const jobs = `${JOBS.toLocaleString('en')} jobs with keys`;
    const keys = (/** @type {'enqueue' | 'drain'} */ step, /** @type {number} */ most) => ({
        name: `${step} of ${jobs}, each`,
        unit: 'µs',
        peer: 'without keys',
        samples: { ours: took[step].slice(0, 1), peer: took[step].slice(1) },
        target: { most },
    });
    return [
        keys('enqueue', 2),
        keys('drain', 1.5),
        {
            name: `16 workers over ${TABS} tabs`,
            unit: '1/s',
            peer: '16 workers in one tab',
            samples: { ours: [together], peer: [alone] },
            target: { least: 1 },
        },
    ];
}
