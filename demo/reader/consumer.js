/** Chooses the context that downloads: the service worker, or this tab where no service worker can. */

import { consume } from './downloading.js';

/** The longest time for the answer of a service worker. */
const ANSWER_ms = 20_000;

/** The interval at which the service worker is woken while there is work, since a browser may end it at any time. */
const WAKE_ms = 5000;

/**
 * @typedef {object} Consumer
 * @property {string} name  a name for the context that downloads, which the notes of progress contain
 * @property {string} why  why it is not the service worker; empty if it is
 * @property {() => void} wake  is called when there is work
 */

/**
 * @param {import('./downloading.js').PageQueue} queue
 * @param {boolean} inTabs  whether the tabs are to download
 * @returns {Promise<Consumer>}
 */
export async function startConsumer(queue, inTabs) {
    let why = 'as you asked';
    try {
        if (!inTabs) return await startWorker(queue);
    } catch (error) {
        why = `since no service worker can here: ${error instanceof Error ? error.message : error}`;
    }
    const name = `tab ${crypto.randomUUID().slice(0, 4)}`;
    consume(queue, name);
    return { name, why, wake: () => {} };
}

/**
 * @param {import('./downloading.js').PageQueue} queue
 * @returns {Promise<Consumer>}
 */
async function startWorker(queue) {
    if (!navigator.serviceWorker) throw new Error('there are no service workers');
    await navigator.serviceWorker.register('./worker.js', { type: 'module' });
    const registration = await navigator.serviceWorker.ready;
    const worker = () => registration.active ?? undefined;
    await answered(worker());
    /** @type {any} undefined where there is no background sync */
    const { sync } = /** @type {any} */ (registration);
    const wake = () => {
        worker()?.postMessage('wake');
        sync?.register('pages').catch(() => {});
    };
    setInterval(() => queue.size > 0 && wake(), WAKE_ms);
    return { name: 'the service worker', why: '', wake };
}

/** @param {ServiceWorker | undefined} worker */
function answered(worker) {
    return new Promise((resolve, reject) => {
        const { port1, port2 } = new MessageChannel();
        const timer = setTimeout(() => reject(new Error('it does not answer')), ANSWER_ms);
        port1.onmessage = ({ data }) => {
            clearTimeout(timer);
            port1.close();
            if (data.consuming) resolve(undefined);
            else reject(new Error(data.error));
        };
        worker?.postMessage('wake', [port2]);
    });
}
