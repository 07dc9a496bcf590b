import { Worker } from 'node:worker_threads';
import { mailbox } from './adders.js';
import { callsTo } from './worker-calls.js';

/**
 * A worker that has attached: storer.js.
 *
 * @param {import('tabacus/threads').ThreadsMemory} shared
 * @param {(() => unknown)[]} endings what ends it is added
 * @param {object} [options] of its storage()
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
