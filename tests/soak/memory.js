/** The memory that a tab takes. */

import { readFileSync } from 'node:fs';

import { ChromiumTab } from '../browser/harness/chromium.js';

/**
 * The memory of a tab's process that is its own, after a garbage collection where the driver can make one.
 *
 * @param {import('../browser/harness/tab.js').Tab} tab
 * @returns {Promise<number>} bytes
 */
export async function memoryOf(tab) {
    if (tab instanceof ChromiumTab) await tab.send('HeapProfiler.collectGarbage');
    const status = readFileSync(`/proc/${await tab.pid()}/status`, 'utf8');
    return 1024 * Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]);
}
