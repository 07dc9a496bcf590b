/**
 * The service worker, which downloads even if all tabs are in the background. The tabs wake it, and so does a browser
 * with background sync. Each time, it works until the queue is empty, or as long as browsers let it.
 */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from '../dist/web/tabacus-service-worker.js';
import { consume, NAMESPACE, openQueue } from './downloading.js';

/** @type {typeof import('../../js/service-worker.js')} */
const { open } = built;

/** How long it works at a time. Browsers end a worker that is busy for minutes; a tab that needs it wakes it again. */
const WORK_ms = 60_000;

const worker = /** @type {any} */ (self);

/** @type {Promise<import('./downloading.js').PageQueue> | undefined} */
let consuming;

async function start() {
    const queue = openQueue(await open({ namespace: NAMESPACE }));
    consume(queue, 'the service worker');
    return queue;
}

/**
 * @param {{ answer?: MessagePort, online?: boolean }} why `online`: the browser reports that the network is back
 */
async function work({ answer, online = false }) {
    consuming ??= start();
    try {
        const queue = await consuming;
        answer?.postMessage({ consuming: true });
        if (online) await queue.resume();
        await Promise.race([queue.onIdle(), new Promise((resolve) => void setTimeout(resolve, WORK_ms))]);
    } catch (error) {
        consuming = undefined;
        answer?.postMessage({ error: String(error) });
    }
}

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('message', (/** @type {any} */ event) =>
    event.waitUntil(work({ answer: event.ports[0] })),
);
worker.addEventListener('sync', (/** @type {any} */ event) => event.waitUntil(work({ online: true })));
