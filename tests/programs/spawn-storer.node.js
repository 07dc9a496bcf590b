import { Worker } from 'node:worker_threads';
import { mailbox } from './adders.js';
import { callsTo } from './worker-calls.js';

/**
 * Starts a worker that runs storer.js, and attaches it to the shared memory.
 *
 * @param {import('tabacus/threads').ThreadsMemory} shared
 * @param {(() => unknown)[]} endings a function that ends the worker is added to them
 * @param {object} [options] the options of the worker's storage()
 */
export async function spawnStorer(shared, endings, options) {
    const worker = new Worker(new URL('./storer.node.js', import.meta.url));
    const { deliver, fail, next } = mailbox();
    worker.on('message', deliver);
    worker.on('error', fail);
    endings.push(() => worker.terminate());
    const call = callsTo((message) => worker.postMessage(message), next);
    await call('attach', shared.handle, options);
    return { call, worker };
}
