/** Opens the queue and the shelf, and passes them to the parts of the page. */

import { one } from '../dom.js';
import { followEvents, report } from '../log.js';
import { open } from '../package.js';
import { startConsumer } from './consumer.js';
import { enqueue, keyOf, missingFrom, NAMESPACE, NEWS, openQueue } from './downloading.js';
import { History } from './history.js';
import { Downloads, fetchBooks } from './library.js';
import { showServer } from './server-panel.js';
import { Shelf } from './shelf.js';
import { showStream } from './stream.js';
import { Viewer } from './viewer.js';

/** @typedef {import('./library.js').Book} Book */

/** The channel of messages that a page was downloaded, that all were deleted, and that every tab shall enqueue. */
const news = new BroadcastChannel(NEWS);

const downloads = new Downloads();

async function start() {
    const tab = await open({ namespace: NAMESPACE });
    followEvents(tab);
    const queue = openQueue(tab);
    const inTabs = new URLSearchParams(location.search).get('consumer') === 'tabs';
    const [books, consumer] = await Promise.all([fetchBooks(), startConsumer(queue, inTabs)]);
    const app = new Reader(queue, books, consumer, new History(tab));
    showStream(queue, consumer, books);
    showServer(() => app.reached().catch(report), report);
    app.listen();
    await app.ask();
    app.enable();
}

class Reader {
    #books;
    #consumer;
    #history;
    #queue;
    #shelf;
    #viewer;

    /** The book that is open in this tab. @type {string | undefined} */
    #reading;

    #stopped = false;

    /**
     * @param {import('./downloading.js').PageQueue} queue
     * @param {readonly Book[]} books
     * @param {import('./consumer.js').Consumer} consumer
     * @param {History} history
     */
    constructor(queue, books, consumer, history) {
        this.#queue = queue;
        this.#books = books;
        this.#consumer = consumer;
        this.#history = history;
        this.#shelf = new Shelf(books, downloads, (book) => this.#open(book).catch(report));
        this.#viewer = new Viewer(downloads, (book, page) => this.#read(book, page).catch(report));
    }

    listen() {
        this.#queue.subscribe(({ paused }) => (this.#stopped = paused));
        news.addEventListener('message', ({ data }) => this.#receive(data).catch(report));
    }

    /**
     * Enables the buttons. It is called after ask(), so that no button deletes pages while this tab enqueues those that
     * it found missing.
     */
    enable() {
        const press = (/** @type {string} */ selector, /** @type {() => Promise<unknown>} */ act) => {
            const button = /** @type {HTMLButtonElement} */ (one(selector));
            button.addEventListener('click', () => act().catch(report));
            button.disabled = false;
        };
        press('#trigger', async () => {
            news.postMessage({ type: 'ask' });
            await this.ask();
        });
        press('#all', () => this.#want(this.#books.map(({ id, pages }) => ({ book: id, page: 1, pages }))));
        press('#resume', () => this.resume());
        press('#forget', () => this.#forget());
    }

    /** Enqueues the missing pages of the books that were read last. */
    async ask() {
        const latest = await this.#history.latest();
        this.#shelf.markLatest(latest.map(({ book }) => book));
        await this.#shelf.refresh();
        await this.#want(latest);
    }

    /** Resumes the queue if it has stopped. Requires that the server was reached. */
    async reached() {
        if (this.#stopped) await this.resume();
    }

    async resume() {
        await this.#queue.resume();
        this.#consumer.wake();
    }

    /**
     * Enqueues the first missing page of each book.
     *
     * @param {import('./history.js').Position[]} positions where to begin in each book, the most urgent first
     */
    async #want(positions) {
        const waiting = new Set((await this.#queue.jobs()).map(({ key }) => key));
        // The newest job is first in the queue, so the most urgent one is enqueued last.
        for (const position of [...positions].reverse()) {
            const missing = await missingFrom(downloads, {
                ...position,
                urgent: position.book === this.#reading,
            });
            // Enqueuing a page again sets its priority anew, which may be lower than that of the tab that shows it.
            const known = missing && !missing.urgent && waiting.has(keyOf(missing));
            if (missing && !known) await enqueue(this.#queue, missing);
        }
        this.#consumer.wake();
    }

    /** @param {Book} book */
    async #open(book) {
        const position = (await this.#history.latest()).find((one) => one.book === book.id);
        await this.#viewer.open(book, position?.page ?? 1);
    }

    /** @param {Book} book @param {number} page */
    async #read({ id, pages }, page) {
        this.#reading = id;
        await this.#want([{ book: id, page, pages }]);
        await this.#history.remember({ book: id, page, pages });
        this.#shelf.markLatest((await this.#history.latest()).map(({ book }) => book));
    }

    async #forget() {
        await this.#queue.clear();
        await downloads.clear();
        news.postMessage({ type: 'forgotten' });
        await this.#shelf.refresh();
    }

    /** @param {{ type: string, book: string, page: number }} message */
    async #receive({ type, book, page }) {
        if (type === 'ask') return this.ask();
        if (type === 'arrived') await this.#viewer.arrived(book, page);
        await this.#shelf.refresh();
    }
}

start().catch(reportError); // ../failure.js shows it
