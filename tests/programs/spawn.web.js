import { mailbox } from './adders.js';

/** Starts a worker that runs adder.js. @returns {import('./adders.js').Adder} */
export function spawn() {
    const worker = new Worker(new URL('./adder.web.js', import.meta.url), { type: 'module' });
    const { deliver, fail, next } = mailbox();
    worker.onmessage = ({ data }) => deliver(data);
    worker.onerror = ({ message }) => fail(new Error(message));
    return { post: (message) => worker.postMessage(message), next, terminate: () => worker.terminate() };
}
