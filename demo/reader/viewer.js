/** The open book: a page at a time, out of Cache Storage, through the queue if it is not there yet. */

import { make, one } from '../dom.js';

/** @typedef {import('./library.js').Book} Book */

export class Viewer {
    #downloads;
    #wish;

    /** @type {{ book: Book, page: number } | undefined} */
    #place;

    /**
     * @param {import('./library.js').Downloads} downloads
     * @param {(book: Book, page: number) => Promise<unknown>} wish settles when that page has been downloaded, or
     *   never: `arrived` tells as well
     */
    constructor(downloads, wish) {
        this.#downloads = downloads;
        this.#wish = wish;
        one('#back').addEventListener('click', () => this.#turn(-1));
        one('#on').addEventListener('click', () => this.#turn(1));
    }

    /** @param {Book} book @param {number} page */
    async open(book, page) {
        const section = /** @type {HTMLElement} */ (one('#viewer'));
        const opened = this.#place?.book !== book;
        this.#place = { book, page };
        section.hidden = false;
        one('#viewer-title').textContent = book.title;
        one('#place').textContent = `Page ${page} of ${book.pages}`;
        /** @type {HTMLButtonElement} */ (one('#back')).disabled = page === 1;
        /** @type {HTMLButtonElement} */ (one('#on')).disabled = page === book.pages;
        if (opened) /** @type {HTMLElement} */ (one('#viewer-title')).focus();
        if (!(await this.#show(book, page))) wait();
        await this.#wish(book, page);
    }

    /** @param {string} id of a book @param {number} page that has just been downloaded */
    async arrived(id, page) {
        const place = this.#place;
        if (place?.book.id === id && place.page === page) await this.#show(place.book, page);
    }

    /** @param {number} by */
    async #turn(by) {
        if (this.#place) await this.open(this.#place.book, this.#place.page + by);
    }

    /**
     * @param {Book} book
     * @param {number} page
     * @returns {Promise<boolean>} whether it is here
     */
    async #show(book, page) {
        const response = await this.#downloads.get(book.id, page);
        const text = await response?.text();
        if (this.#place?.book !== book || this.#place.page !== page) return true; // another was opened meanwhile
        if (text === undefined) return false;
        fill('shown', ...(book.kind === 'comic' ? [picture(book, page, text)] : paragraphs(text)));
        return true;
    }
}

function wait() {
    fill('waiting', make('p', { class: 'label', text: 'On its way.' }));
}

/** @param {'waiting' | 'shown'} state @param {Node[]} children */
function fill(state, ...children) {
    const element = /** @type {HTMLElement} */ (one('#page'));
    element.dataset['state'] = state;
    element.replaceChildren(...children);
}

/** @param {string} text */
const paragraphs = (text) =>
    text
        .trim()
        .split('\n\n')
        .map((words) => make('p', { text: words }));

/** @param {Book} book @param {number} page @param {string} drawing */
function picture(book, page, drawing) {
    const image = /** @type {HTMLImageElement} */ (make('img'));
    image.alt = `${book.title}, page ${page}`;
    [image.width, image.height] = [400, 480];
    image.src = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
    return image;
}
