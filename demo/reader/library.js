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
        const folder = new URL(`books/${book}/`, LIBRARY).href;
        const urls = (await (await this.#cache).keys()).map(({ url }) => url);
        return new Set(urls.filter((url) => url.startsWith(folder)).map((url) => Number(url.slice(folder.length))));
    }

    async clear() {
        const cache = await this.#cache;
        for (const request of await cache.keys()) await cache.delete(request);
    }
}
