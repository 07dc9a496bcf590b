/** Four Workers of each tab, which all count in one counter over the tabs. */

import { threads } from './package-threads.js';

export const WORKERS = 4;
export const ADDS = 50_000;

/** The number of increments after which a Worker that is to be killed is terminated. */
const KILLED_AFTER = 7_000;

/** @typedef {Awaited<ReturnType<typeof import('./package.js').open>>} Tab */
/** @typedef {{ name: string, kill: boolean }} Run */

/**
 * Lets the Workers of this tab count, and resolves once all that they added is committed.
 *
 * @param {Tab} tab
 * @param {Run} run  `kill`: whether one Worker is terminated while it counts
 * @returns {Promise<number>} how often add() has returned
 */
export async function countWithCrew(tab, { name, kill }) {
    const shared = await threads({ tab });
    try {
        const added = new Int32Array(new SharedArrayBuffer(4 * WORKERS));
        const work = { handle: shared.handle, name, adds: ADDS, added };
        const crew = Array.from(added, (_, at) => countInWorker({ ...work, at }, kill && at === 0));
        await Promise.all(crew);
        await shared.tabCounter(name).flushAsync();
        return added.reduce((sum, n) => sum + n, 0);
    } finally {
        shared.close();
    }
}

/**
 * @param {{ added: Int32Array, at: number }} work
 * @param {boolean} kill
 * @returns {Promise<void>} resolves once the Worker has finished, or is terminated
 */
function countInWorker(work, kill) {
    const worker = new Worker(new URL('./crew-worker.js', import.meta.url), { type: 'module' });
    /** @type {Promise<void>} */
    const finished = new Promise((resolve, reject) => {
        worker.onmessage = () => resolve();
        worker.onerror = ({ message }) => reject(new Error(message || 'A worker did not start'));
        worker.postMessage(work);
        if (kill) terminateWithin(worker, work).then(resolve, reject);
    });
    return finished.finally(() => worker.terminate());
}

/**
 * Terminates a Worker while it counts.
 *
 * @param {Worker} worker
 * @param {{ added: Int32Array, at: number }} work
 */
async function terminateWithin(worker, { added, at }) {
    while (Atomics.load(added, at) < KILLED_AFTER) await pause();
    worker.terminate();
    for (let before = -1; before !== Atomics.load(added, at);) {
        before = Atomics.load(added, at);
        await pause();
    }
}

const pause = () => new Promise((resolve) => void setTimeout(resolve, 20));
