/** Opens the queue and the shelf, and hands them to the parts of the page. */

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

/** The tabs' own messages, beside the queue's: what has arrived, and that all shall ask. */
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

    /** @type {string | undefined} The book that is open here. */
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

    /** Once this tab has asked for itself: it shall not ask for what was deleted at a press meanwhile. */
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

    /** What was read last is kept complete. */
    async ask() {
        const latest = await this.#history.latest();
        this.#shelf.markLatest(latest.map(({ book }) => book));
        await this.#shelf.refresh();
        await this.#want(latest);
    }

    /** The server is there: nothing that stopped for it needs to wait. */
    async reached() {
        if (this.#stopped) await this.resume();
    }

    async resume() {
        await this.#queue.resume();
        this.#consumer.wake();
    }

    /** @param {import('./history.js').Position[]} positions where to begin with missing pages, the most wanted first */
    async #want(positions) {
        const waiting = new Set((await this.#queue.jobs()).map(({ key }) => key));
        // The newest comes first in the queue.
        for (const position of [...positions].reverse()) {
            const missing = await missingFrom(downloads, {
                ...position,
                urgent: position.book === this.#reading,
            });
            // Asked for again it would take its new priority, which may be less than another tab's reader gave it.
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
