/** Pages of one process with a tab and a memory each, and Workers that attach to it. */

import { Worker } from 'node:worker_threads';
import { open } from 'tabacus';
import { threads } from 'tabacus/threads';
import { mailbox } from '../programs/adders.js';
import { callsTo } from '../programs/worker-calls.js';
import { testOrigin } from './test-origin.js';

/** @typedef {{ window: any, tab: import('tabacus').Tab, shared: import('tabacus/threads').ThreadsMemory }} Page */

/** Web Locks of the process, for the liveness locks of the threads. */
const { locks: livenessLocks } = (await testOrigin({ clock: 'real' })).window().navigator;
Object.defineProperty(globalThis, 'navigator', { value: { locks: livenessLocks }, configurable: true });

/**
 * Opens pages of one origin.
 *
 * @param {number} count
 * @param {(end: () => unknown) => void} after registers what is to be done after the test
 * @returns {Promise<[Page, Page, Page]>} as many as `count`
 */
export async function openPages(count, after) {
    // Workers of Node send messages to these pages, and a virtual clock would not wait for them.
    const origin = await testOrigin({ clock: 'real' });
    const made = Array.from({ length: count }, async () => {
        const window = origin.window();
        const tab = await open({ window });
        const shared = await threads({ tab });
        after(() => shared.close());
        after(() => tab.close());
        return { window, tab, shared };
    });
    return /** @type {any} */ (await Promise.all(made));
}

/**
 * Starts a Worker of tab-locker.node.js, and attaches it.
 *
 * @param {import('tabacus/threads').ThreadsMemory} shared
 * @param {(end: () => unknown) => void} after
 */
export async function startWorker(shared, after) {
    const worker = new Worker(new URL('./tab-locker.node.js', import.meta.url));
    const { deliver, fail, next } = mailbox();
    /** @type {Map<string, () => void>} */
    const held = new Map();
    worker.on('message', ({ lock, released, ...answer }) => {
        if (lock) {
            void livenessLocks.request(lock, () => {
                worker.postMessage({ granted: lock });
                return new Promise((release) => held.set(lock, () => release(undefined)));
            });
        } else if (released) held.get(released)?.();
        else deliver(answer);
    });
    worker.on('error', fail);
    worker.on('exit', () => held.forEach((release) => release()));
    after(() => worker.terminate());
    const call = callsTo((message) => worker.postMessage(message), next);
    await call('attach', shared.handle);
    return { call, terminate: () => worker.terminate() };
}
