/**
 * The queue of pages: in the tabs, which ask, and in the service worker, or the tabs, which download. A job
 * is a page; it is followed by the next one of its book that is missing.
 */

import { addressOf, Downloads } from './library.js';
import { WIDTH } from './width.js';

/** @typedef {{ book: string, page: number, pages: number, urgent: boolean }} Page  of a book with so many pages */
/** @typedef {import('../../js/index.js').Tab} Tab */
/** @typedef {ReturnType<typeof openQueue>} PageQueue */

export const NAMESPACE = 'reader';

/** The channel on which the tabs and the worker announce what has arrived. */
export const NEWS = 'tabacus-reader';

/** A server that answers badly is asked again so often, later and later, before the whole queue stops. */
const TRIES_max = 12;
const PAUSE_ms = 100;
const PAUSE_most_ms = 2000;

/**
 * The newest request first. Where the server cannot be reached there is no use in asking for other pages: the
 * queue stops until a tab sees the server again.
 *
 * @param {Tab} tab
 */
export const openQueue = (tab) =>
    tab.queue('pages', { concurrency: WIDTH, order: 'lifo', onFailure: 'pause', attempts: Infinity });

/**
 * A page that waits already is not queued twice: it moves to the front.
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
 * From here on, this context downloads.
 *
 * @param {PageQueue} queue
 * @param {string} who it is, shown in all tabs with the progress
 */
export function consume(queue, who) {
    const downloads = new Downloads();
    const news = new BroadcastChannel(NEWS);
    return queue.handle(async ({ payload, signal, progress, next }) => {
        /** @type {Page} */
        const { book, page } = payload;
        progress(0, who);
        if (!(await downloads.get(book, page))) {
            const keep = await downloads.reserve(book, page);
            const response = await download(addressOf(book, page), signal, (fraction) =>
                progress(fraction, who),
            );
            signal.throwIfAborted(); // another may have the job by now
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
 * @returns {Promise<Response>} rejected where the server cannot be reached, or does nothing but fail
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
 * @returns {Promise<Response>} one with a body that is here
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
 * @param {AbortSignal} signal ends it
 */
function pause(wait_ms, signal) {
    return new Promise((resolve) => {
        setTimeout(resolve, wait_ms);
        signal.addEventListener('abort', resolve, { once: true });
    });
}

/**
 * The first page from this one on that is not here; after the last comes the first.
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
