import { Worker } from 'node:worker_threads';
import { mailbox } from './adders.js';

/** Starts a worker that runs adder.js. @returns {import('./adders.js').Adder} */
export function spawn() {
    const worker = new Worker(new URL('./adder.node.js', import.meta.url));
    const { deliver, fail, next } = mailbox();
    worker.on('message', deliver);
    worker.on('error', fail);
    return { post: (message) => worker.postMessage(message), next, terminate: () => worker.terminate() };
}
