/** The addresses of the library, and the downloaded pages: in Cache Storage, for all tabs and the service worker. */

/** @typedef {import('../../web/reader-books.js').Book} Book */

const CACHE = 'tabacus-reader';

/** The address of the library, relative to this module. */
const LIBRARY = new URL('../library/', import.meta.url);

/** @returns {Promise<Book[]>} */
export const fetchBooks = async () => (await fetch(new URL('books', LIBRARY))).json();

/**
 * @param {string} path
 * @param {object} [body] if it is given, the request is a POST
 */
export async function askServer(path, body) {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(new URL(path, LIBRARY), init);
    if (!response.ok) throw new Error(`The server answered the request for ${path} with ${response.status}`);
    return response.json();
}

/** @param {string} book @param {number} page */
export const addressOf = (book, page) => new URL(`books/${book}/${page}`, LIBRARY).href;

/** The downloaded pages. */
export class Downloads {
    /** @param {string} book @param {number} page */
    async get(book, page) {
        return (await open()).match(addressOf(book, page));
    }

    /**
     * Opens the cache for a page that is about to be fetched. If all pages are deleted meanwhile, that page is deleted
     * too: a deleted cache only lives on for the contexts that have opened it (Service Workers, §5.5).
     *
     * @param {string} book
     * @param {number} page
     * @returns {Promise<(response: Response) => Promise<void>>}
     */
    async reserve(book, page) {
        const cache = await open();
        return (response) => cache.put(addressOf(book, page), response);
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
        for (const { url } of await (await open()).keys()) {
            const [book = '', page] = url.slice(folder.length).split('/');
            all.set(book, (all.get(book) ?? new Set()).add(Number(page)));
        }
        return all;
    }

    async clear() {
        await caches.delete(CACHE);
    }
}

const open = () => caches.open(CACHE);
