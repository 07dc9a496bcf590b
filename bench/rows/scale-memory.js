/**
 * The resident memory of the process of a tab that uses counters and locks, beside that of an empty page. A page of
 * memory that several processes share, such as one of the browser's own program, counts for each of them in part.
 */

import { readFileSync } from 'node:fs';

import { call } from '../lib/context.js';
import { median } from '../lib/rows.js';
import { descendants } from '../../tests/browser/harness/processes.js';
import { delay } from '../../tests/browser/harness/waiting.js';

const TABS = 5;

/** How long pages are left alone before their processes are measured: a hidden page frees memory only after some seconds. */
const REST_MS = 60_000;

const MOST_MB = 8;

/** The processes that run pages. @param {import('../lib/context.js').Context} context */
const renderers = ({ browser }) =>
    descendants(browser.pid()).flatMap(({ pid, command }) => (/--type=renderer/.test(command) ? [pid] : []));

/** @param {number} pid @returns {number} the proportional set size (proc(5)) in MB */
function resident(pid) {
    const found = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return Number(found?.[1]) / 1_024;
}

/** The memory of a page as the browser accounts for it; runs in the page. @returns {Promise<number>} bytes */
const ownBytes = async () => (await /** @type {any} */ (performance).measureUserAgentSpecificMemory()).bytes;

/**
 * Opens pages, each in a process of its own, and measures their processes and the last page.
 *
 * @param {import('../lib/context.js').Context} context @param {string} page
 * @param {(tab: import('../lib/context.js').Tab) => Promise<unknown>} use
 * @returns {Promise<{ sizes: number[], own: number }>} MB
 */
async function residentIn(context, page, use) {
    const before = new Set(renderers(context));
    const tabs = [];
    for (let at = 0; at < TABS; at++) {
        const tab = await context.openTab(page);
        await use(tab);
        tabs.push(tab);
    }
    await delay(REST_MS);
    const sizes = renderers(context)
        .filter((pid) => !before.has(pid))
        .map(resident);
    const own = ((await tabs.at(-1)?.evaluate(ownBytes)) ?? NaN) / 2 ** 20;
    await Promise.all(tabs.map((tab) => tab.close()));
    return { sizes, own };
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function scaleMemory(context) {
    const empty = await residentIn(context, 'empty.html', async () => {});
    const used = await residentIn(context, 'scale.html', async (tab) => {
        await call(tab, 'start', 'memory');
        await call(tab, 'flushCounters', 100);
        await call(tab, 'holdNames', 'ours', ['a', 'b', 'c'], 'exclusive');
    });
    const bare = median(empty.sizes);
    return [
        {
            name: 'resident memory of a tab with counters and locks, above an empty page',
            unit: 'MB',
            peer: 'the target',
            samples: { ours: used.sizes.map((one) => one - bare), peer: [MOST_MB] },
            target: { most: 1 },
            note: `empty pages ${empty.sizes.map((one) => one.toFixed(1)).join(', ')} MB`,
        },
        {
            name: 'the same as the browser accounts for it: JavaScript and WebAssembly',
            unit: 'MB',
            peer: 'the target',
            samples: { ours: [used.own - empty.own], peer: [MOST_MB] },
            target: { most: 1 },
        },
    ];
}
