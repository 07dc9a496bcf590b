/** Shows the open book page by page, from Cache Storage. The queue downloads a page that is not there yet. */

import { make, one } from '../dom.js';

/** @typedef {import('./library.js').Book} Book */

export class Viewer {
    #downloads;
    #request;

    /** @type {{ book: Book, page: number } | undefined} */
    #position;

    /**
     * @param {import('./library.js').Downloads} downloads
     * @param {(book: Book, page: number) => Promise<unknown>} request enqueues a page; `arrived` reports its download
     */
    constructor(downloads, request) {
        this.#downloads = downloads;
        this.#request = request;
        one('#back').addEventListener('click', () => this.#turn(-1));
        one('#on').addEventListener('click', () => this.#turn(1));
    }

    /** @param {Book} book @param {number} page */
    async open(book, page) {
        const section = /** @type {HTMLElement} */ (one('#viewer'));
        const opened = this.#position?.book !== book;
        this.#position = { book, page };
        section.hidden = false;
        one('#viewer-title').textContent = book.title;
        one('#position').textContent = `Page ${page} of ${book.pages}`;
        /** @type {HTMLButtonElement} */ (one('#back')).disabled = page === 1;
        /** @type {HTMLButtonElement} */ (one('#on')).disabled = page === book.pages;
        if (opened) /** @type {HTMLElement} */ (one('#viewer-title')).focus();
        if (!(await this.#show(book, page))) wait();
        await this.#request(book, page);
    }

    /** @param {string} id of a book @param {number} page that has just been downloaded */
    async arrived(id, page) {
        const position = this.#position;
        if (position?.book.id === id && position.page === page) await this.#show(position.book, page);
    }

    /** @param {number} by */
    async #turn(by) {
        if (this.#position) await this.open(this.#position.book, this.#position.page + by);
    }

    /**
     * @param {Book} book
     * @param {number} page
     * @returns {Promise<boolean>} whether the page is downloaded
     */
    async #show(book, page) {
        const response = await this.#downloads.get(book.id, page);
        const text = await response?.text();
        if (this.#position?.book !== book || this.#position.page !== page) return true; // another page was opened meanwhile
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
        .map((line) => make('p', { text: line }));

/** @param {Book} book @param {number} page @param {string} drawing */
function picture(book, page, drawing) {
    const image = /** @type {HTMLImageElement} */ (make('img'));
    image.alt = `${book.title}, page ${page}`;
    [image.width, image.height] = [400, 480];
    image.src = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
    return image;
}
