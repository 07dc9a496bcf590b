/**
 * The queue of pages. The tabs enqueue jobs, and the service worker, or the tabs, download. A job is a page; at its
 * end, it enqueues the next missing page of its book.
 */

import { addressOf, Downloads } from './library.js';
import { WIDTH } from './width.js';

/** @typedef {{ book: string, page: number, pages: number, urgent: boolean }} Page  `pages`: how many the book has */
/** @typedef {import('../../js/index.js').Tab} Tab */
/** @typedef {ReturnType<typeof openQueue>} PageQueue */

export const NAMESPACE = 'reader';

/** The channel on which the tabs and the service worker announce downloaded pages. */
export const NEWS = 'tabacus-reader';

/** How often a failed request is tried, with growing pauses, before the whole queue stops. */
const TRIES_max = 12;
const PAUSE_ms = 100;
const PAUSE_most_ms = 2000;

/**
 * Opens the queue, in which the newest job is first. If the server cannot be reached, other pages would fail too, so
 * the queue stops until a tab reaches the server again.
 *
 * @param {Tab} tab
 */
export const openQueue = (tab) =>
    tab.queue('pages', { concurrency: WIDTH, order: 'lifo', onFailure: 'pause', attempts: Infinity });

/**
 * Enqueues a page. If it waits already, it is not enqueued twice, but moves to the front.
 *
 * @param {PageQueue} queue
 * @param {Page} page
 */
export const enqueue = (queue, page) => queue.enqueue(page, optionsOf(page));

/** @param {Page} page */
export const keyOf = ({ book, page }) => `${book}/${page}`;

/** @param {Page} page */
const optionsOf = (page) => ({ key: keyOf(page), priority: page.urgent ? 1 : 0 });

/**
 * Makes this context download.
 *
 * @param {PageQueue} queue
 * @param {string} name of this context, which all tabs show with the progress
 */
export function consume(queue, name) {
    const downloads = new Downloads();
    const news = new BroadcastChannel(NEWS);
    return queue.handle(async ({ payload, signal, progress, next }) => {
        /** @type {Page} */
        const { book, page } = payload;
        progress(0, name);
        if (!(await downloads.get(book, page))) {
            const keep = await downloads.reserve(book, page);
            const response = await download(addressOf(book, page), signal, (fraction) =>
                progress(fraction, name),
            );
            signal.throwIfAborted(); // another context may have the job meanwhile
            await keep(response);
            news.postMessage({ type: 'arrived', book, page });
        }
        const following = await missingFrom(downloads, { ...payload, page: page + 1 });
        if (following) next(following, optionsOf(following));
    });
}

/**
 * @param {string} address
 * @param {AbortSignal} signal
 * @param {(fraction: number) => void} progress
 * @returns {Promise<Response>} rejects if the server cannot be reached, or if TRIES_max requests fail
 */
async function download(address, signal, progress) {
    for (let tries = 1; ; tries++) {
        const response = await fetch(address, { signal });
        try {
            if (!response.ok) throw new Error(`the server answered ${response.status}`);
            return await whole(response, progress);
        } catch (error) {
            signal.throwIfAborted();
            if (tries === TRIES_max) throw error;
            await pause(
                Math.min(PAUSE_most_ms, PAUSE_ms * 2 ** (tries - 1)) * (0.5 + Math.random() / 2),
                signal,
            );
        }
    }
}

/**
 * @param {Response} response
 * @param {(fraction: number) => void} progress
 * @returns {Promise<Response>} a response whose body has been received
 */
async function whole(response, progress) {
    const size = Number(response.headers.get('content-length'));
    const type = response.headers.get('content-type') ?? '';
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
    const parts = [];
    let received = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return new Response(new Blob(parts, { type }), { headers: { 'content-type': type } });
        parts.push(value);
        received += value.length;
        progress(size > 0 ? Math.min(1, received / size) : 0);
    }
}

/**
 * @param {number} wait_ms
 * @param {AbortSignal} signal ends the pause early
 */
function pause(wait_ms, signal) {
    return new Promise((resolve) => {
        setTimeout(resolve, wait_ms);
        signal.addEventListener('abort', resolve, { once: true });
    });
}

/**
 * The first page from the given one on that is not downloaded. The first page of the book follows its last one.
 *
 * @param {Downloads} downloads
 * @param {Page} page
 * @returns {Promise<Page | undefined>}
 */
export async function missingFrom(downloads, page) {
    const here = await downloads.pagesOf(page.book);
    const order = Array.from(
        { length: page.pages },
        (_, index) => ((page.page - 1 + index) % page.pages) + 1,
    );
    const missing = order.find((one) => !here.has(one));
    return missing === undefined ? undefined : { ...page, page: missing };
}
