/** Many counters in one namespace: their flush, their reads, the opening of another tab, and two idle tabs. */

import { call } from '../lib/context.js';
import { options } from '../lib/options.js';
import { callLong, openTabs, processorTime } from '../lib/scale.js';
import { delay } from '../../tests/browser/harness/waiting.js';

const SIZES = options.short ? [100, 1_000] : [100, 1_000, 10_000, 100_000];
const IDLE_MS = options.short ? 1_000 : 5_000;

/** After a flush of this length, more counters are not measured. */
const PATIENCE_MS = 60_000;

/**
 * @param {import('../lib/context.js').Context} context @param {number} size
 * @returns {Promise<Record<string, number>>} milliseconds
 */
async function measure(context, size) {
    const [first, second] = /** @type {[import('../lib/scale.js').Tab, import('../lib/scale.js').Tab]} */ (
        await openTabs(context, 2)
    );
    await call(first, 'start', `counters ${size}`);
    const flush = await callLong(first, 'flushCounters', size);
    const longest = await call(first, 'longestTask');
    const bare = await callLong(first, 'bareRows', size);
    const open = await callLong(second, 'start', `counters ${size}`);
    const all = await callLong(second, 'readCounters');
    const each = await callLong(second, 'readEach', size);
    const before_ms = await processorTime(context);
    await delay(IDLE_MS);
    const idle = (((await processorTime(context)) - before_ms) * 1_000) / IDLE_MS;
    await Promise.all([first.close(), second.close()]);
    return { flush, longest, put: bare.put_ms, getAll: bare.getAll_ms, open, all, each, idle };
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function scaleCounters(context) {
    const rows = [];
    /** @type {number | undefined} */
    let fewestOpen_ms;
    for (const size of SIZES) {
        const took = await measure(context, size);
        const of = `of ${size.toLocaleString('en')} counters`;
        fewestOpen_ms ??= took.open ?? NaN;
        /** @param {string} name @param {number | undefined} ours @param {number | undefined} peer @param {string} which @param {number} most @param {string} [panel] */
        const row = (name, ours = NaN, peer = NaN, which, most, panel) => ({
            name: `${name} ${of}`,
            unit: 'ms',
            peer: which,
            samples: { ours: [ours], peer: [peer] },
            target: { most },
            ...(panel && { plot: { panel, along: 'counters', x: size } }),
        });
        rows.push(
            row(
                'flush',
                took.flush,
                took.put,
                'a transaction of as many rows',
                5,
                'Flushing counters, in ms',
            ),
            row('readCounters()', took.all, took.getAll, 'getAll()', 3, 'Reading all counters, in ms'),
            row('a read() of each', took.each, took.getAll, 'getAll()', 3),
            row('open() beside a tab', took.open, fewestOpen_ms, `beside ${SIZES[0]}`, 1.5),
            row('the longest task of a flush', took.longest, 50, 'the target', 1),
            row('a second of two idle tabs', took.idle, 10, 'processor time: the target', 1),
        );
        if ((took.flush ?? 0) > PATIENCE_MS) break;
    }
    return rows;
}
