/** The shelf: a card for each book, with how many of its pages are downloaded. */

import { make, one, showNumber, stamp } from '../dom.js';
import { integer } from '../format.js';

/** @typedef {import('./library.js').Book} Book */

const COLOURS = 6;

export class Shelf {
    #downloads;

    /** @type {readonly Book[]} */
    #books;

    #again = false;

    /** @type {Promise<void> | undefined} */
    #refreshing;

    /**
     * @param {readonly Book[]} books
     * @param {import('./library.js').Downloads} downloads
     * @param {(book: Book) => void} open
     */
    constructor(books, downloads, open) {
        this.#books = books;
        this.#downloads = downloads;
        one('#shelf').replaceChildren(...books.map((book, index) => card(book, index, open)));
    }

    /** Counts the downloaded pages again. Calls during a count share one further count. */
    async refresh() {
        this.#again = true;
        this.#refreshing ??= this.#countPages();
        await this.#refreshing;
    }

    async #countPages() {
        while (this.#again) {
            this.#again = false;
            const all = await this.#downloads.all();
            for (const book of this.#books) show(book, all.get(book.id)?.size ?? 0);
        }
        this.#refreshing = undefined;
    }

    /** @param {string[]} ids of the books that are kept complete */
    markLatest(ids) {
        for (const { id } of this.#books) cardOf(id).toggleAttribute('data-latest', ids.includes(id));
    }
}

/** @param {Book} book @param {number} count of its downloaded pages */
function show({ id, pages }, count) {
    showNumber(one('[data-role="downloaded"]', cardOf(id)), count, integer);
    /** @type {HTMLProgressElement} */ (one('progress', cardOf(id))).value = count / pages;
    cardOf(id).toggleAttribute('data-complete', count === pages);
}

/** @param {string} id */
const cardOf = (id) => /** @type {HTMLElement} */ (one(`.book[data-book="${id}"]`));

/**
 * @param {Book} book
 * @param {number} index
 * @param {(book: Book) => void} open
 */
function card(book, index, open) {
    const element = /** @type {HTMLElement} */ (one('.book', stamp('book')));
    Object.assign(element.dataset, { book: book.id, kind: book.kind, colour: String(index % COLOURS) });
    one('.cover span', element).textContent = book.title;
    one('h3', element).textContent = book.title;
    one('.label', element).textContent = `${book.author}, ${book.kind}`;
    one('progress', element).setAttribute('aria-label', `How much of ${book.title} is downloaded`);
    one('.count span', element).textContent = String(book.pages);
    const button = one('button', element);
    button.append(make('span', { class: 'hidden-title', text: ` ${book.title}` }));
    button.addEventListener('click', () => open(book));
    return element;
}
