/** The reader's library: its pages, its faults, and what it records about the requests. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { BOOKS, pageOf } from '../../web/reader-books.js';
import { libraryHandler, ReaderServer } from '../../web/reader-server.js';
import { createServer } from '../../web/server.js';
import { until } from '../browser/harness/waiting.js';

describe("The reader's library", () => {
    const library = new ReaderServer();
    /** @type {import('../../web/server.js').Server} */
    let server;
    before(async () => (server = await createServer({ handlers: { '/library': libraryHandler(library) } })));
    after(() => server.close());
    beforeEach(() => {
        library.reset();
        library.set({ latency_ms: 0, bandwidth: 0, failures: 0, offline: false });
    });
    /** @param {string} path @param {RequestInit} [init] */
    const ask = (path, init) => fetch(`${server.url}/library${path}`, init);
    /** @param {string} path @param {object} body */
    const post = (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) });

    it('the library has books and comics, the same each time', async () => {
        assert.deepEqual(await (await ask('/books')).json(), BOOKS);
        for (const book of BOOKS) {
            const response = await ask(`/books/${book.id}/${book.pages}`);
            const { type, body } = pageOf(book, book.pages);
            assert.equal(response.headers.get('content-type'), type);
            assert.equal(response.headers.get('cache-control'), 'no-store');
            assert.equal(await response.text(), body);
        }
        assert.deepEqual([...new Set(BOOKS.map(({ kind }) => kind))], ['book', 'comic']);
        assert.equal(library.log.delivered, BOOKS.length);
    });

    it('the library has no other pages, and does not record requests for them', async () => {
        for (const path of [
            '/books/tale/0',
            '/books/tale/25',
            '/books/tale/1e1',
            '/books/none/1',
            '/books/tale/',
            '/x',
            '',
        ]) {
            assert.equal((await ask(path)).status, 404, path);
        }
        assert.equal(library.log.requests, 0);
    });

    it('wrong settings are refused, and the previous ones stay', async () => {
        for (const wrong of [
            { latency_ms: -1 },
            { failures: 2 },
            { offline: 1 },
            { speed: 1 },
            null,
            { __proto__: null, bandwidth: '1' },
        ]) {
            assert.equal((await post('/settings', /** @type {any} */ (wrong))).status, 400);
        }
        const { settings } = await (await post('/settings', { latency_ms: 5, offline: true })).json();
        assert.deepEqual(settings, { latency_ms: 5, bandwidth: 0, failures: 0, offline: true });
    });

    it('the library records requests that are under way, and pages that are fetched twice at once', async () => {
        library.set({ latency_ms: 50 });
        await Promise.all(
            ['/books/tale/1', '/books/tale/2', '/books/tale/1'].map((path) =>
                ask(path).then((got) => got.text()),
            ),
        );
        await library.judged();
        assert.deepEqual([library.log.overlaps, library.log.inFlightMost, library.log.requests], [1, 3, 3]);
        await until(() => library.log.delivered === 3, 'the end of the third');
        assert.deepEqual([library.log.inFlight, library.log.again], [0, 1]);
        await (await post('/reset', {})).text();
        await (await ask('/books/tale/1')).text();
        assert.deepEqual([library.log.overlaps, library.log.inFlightMost, library.log.again], [0, 1, 0]);
    });

    it('fetches that follow one another are recorded as one at a time', async () => {
        for (let page = 1; page <= 24; page++) await (await ask(`/books/tale/${page}`)).text();
        await library.judged();
        assert.deepEqual([library.log.overlaps, library.log.inFlightMost], [0, 1]);
    });

    it('requests fail as often as configured, with an error or with a body that breaks off', async () => {
        library.set({ failures: 1 });
        assert.equal((await ask('/books/tale/1')).status, 503);
        await assert.rejects(ask('/books/tale/1').then((response) => response.text()));
        await until(() => library.log.inFlight === 0, 'the end of both');
        assert.deepEqual([library.log.failed, library.log.delivered, library.log.abandoned], [2, 0, 0]);
    });

    it('a library that is offline cuts off requests for pages', async () => {
        library.set({ offline: true });
        await assert.rejects(ask('/books/tale/1'));
        assert.equal((await ask('/state')).status, 200);
        await until(() => library.log.inFlight === 0, 'its end');
        assert.deepEqual([library.log.cut, library.log.abandoned], [1, 0]);
    });

    it('a request that has just been aborted does not count as concurrent with the next', async () => {
        library.set({ latency_ms: 100 });
        const gone = new AbortController();
        const first = ask('/books/tale/1', { signal: gone.signal });
        await until(() => library.log.inFlight === 1, 'the first');
        const second = ask('/books/tale/1');
        await until(() => library.log.inFlight === 2, 'the second');
        gone.abort();
        await assert.rejects(first);
        await (await second).text();
        await library.judged();
        const { overlaps, inFlightMost, handovers } = library.log;
        assert.deepEqual(
            { overlaps, inFlightMost, handovers },
            { overlaps: 0, inFlightMost: 1, handovers: 1 },
        );
    });

    it('the library records a client that aborts, and counts no delivery for it', async () => {
        library.set({ bandwidth: 100 });
        const gone = new AbortController();
        const response = await ask('/books/tale/1', { signal: gone.signal });
        gone.abort();
        await assert.rejects(response.text());
        await until(() => library.log.inFlight === 0, 'its end');
        assert.deepEqual([library.log.abandoned, library.log.delivered], [1, 0]);
    });
});
