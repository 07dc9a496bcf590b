/** A worker of threads-tab-lock.test.js. Node has no Web Locks, so the parent holds the liveness lock of the worker. */

import { parentPort } from 'node:worker_threads';
import { attach } from 'tabacus/worker';
import { tabLocker } from '../programs/tab-locker.js';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);

/** @type {Map<string, () => Promise<void>>} */
const asked = new Map();

const locks = {
    /**
     * @param {string} name
     * @param {() => Promise<void>} granted
     */
    async request(name, granted) {
        asked.set(name, granted);
        port.postMessage({ lock: name });
    },
};
Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });

const answer = tabLocker(attach, (message) => port.postMessage(message));
port.on('message', (message) => {
    if (!message.granted) return void answer(message);
    void asked
        .get(message.granted)?.()
        .then(() => port.postMessage({ released: message.granted }));
});
