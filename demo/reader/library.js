/** The library's addresses, and the pages that are here already: in Cache Storage, for all tabs and the worker. */

/** @typedef {import('../../web/reader-books.js').Book} Book */

const CACHE = 'tabacus-reader';

/** Beside the demo's page, wherever that is. */
const LIBRARY = new URL('../library/', import.meta.url);

/** @returns {Promise<Book[]>} */
export const fetchBooks = async () => (await fetch(new URL('books', LIBRARY))).json();

/**
 * @param {string} path
 * @param {object} [body] then it is a POST
 */
export async function askServer(path, body) {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(new URL(path, LIBRARY), init);
    if (!response.ok) throw new Error(`The server says ${response.status} to ${path}`);
    return response.json();
}

/** @param {string} book @param {number} page */
export const addressOf = (book, page) => new URL(`books/${book}/${page}`, LIBRARY).href;

/** The pages that were downloaded. */
export class Downloads {
    #cache = caches.open(CACHE);

    /** @param {string} book @param {number} page */
    async get(book, page) {
        return (await this.#cache).match(addressOf(book, page));
    }

    /** @param {string} book @param {number} page @param {Response} response */
    async put(book, page, response) {
        await (await this.#cache).put(addressOf(book, page), response);
    }

    /** @param {string} book @returns {Promise<Set<number>>} */
    async pagesOf(book) {
        return (await this.all()).get(book) ?? new Set();
    }

    /** @returns {Promise<Map<string, Set<number>>>} pages by their book */
    async all() {
        const folder = new URL('books/', LIBRARY).href;
        /** @type {Map<string, Set<number>>} */
        const all = new Map();
        for (const { url } of await (await this.#cache).keys()) {
            const [book = '', page] = url.slice(folder.length).split('/');
            all.set(book, (all.get(book) ?? new Set()).add(Number(page)));
        }
        return all;
    }

    async clear() {
        const cache = await this.#cache;
        for (const request of await cache.keys()) await cache.delete(request);
    }
}
