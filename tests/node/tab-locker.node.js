/** A worker of threads-tab-lock.test.js. Node has no Web Locks: its sign of life is kept by the parent. */

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
        port.postMessage({ life: name });
    },
};
Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });

const obey = tabLocker(attach, (message) => port.postMessage(message));
port.on('message', (message) => {
    if (!message.granted) return void obey(message);
    void asked
        .get(message.granted)?.()
        .then(() => port.postMessage({ died: message.granted }));
});
