/**
 * Serves the demo: the page at `/`, the built package at `/dist`, the plotting library at `/uplot`, and the service
 * worker at the top, since its scope is the folder that it lies in. The session panel and the reader each have a small
 * server of their own behind an address.
 */

import { libraryHandler, ReaderServer } from './reader-server.js';
import { createServer } from './server.js';
import { tokenHandler, TokenServer } from './token-server.js';

/** The usual port of a page in development. If it is taken, the server takes a free one. */
const PORT = 8080;

/** The delay of every fifth answer to a refresh. Later answers overtake it, as happens on any network. */
const LATE_ms = 300;

/** @param {string} path */
const here = (path) => new URL(path, import.meta.url);

export const DEMO_MOUNTS = Object.freeze({
    '/': here('../demo'),
    '/dist': here('../dist'),
    '/uplot': here('../node_modules/uplot/dist'),
    '/isolation.js': here('./isolation.js'),
    '/isolation-worker.js': here('./isolation-worker.js'),
});

function farProvider() {
    const tokens = new TokenServer();
    let answers = 0;
    tokens.beforeAnswer = () =>
        new Promise((resolve) => void setTimeout(resolve, answers++ % 5 === 0 ? LATE_ms : 0));
    return tokens;
}

/**
 * @typedef {object} DemoServer
 * @property {ReaderServer} library  the reader's server, for tests
 */

/**
 * @param {{ isolated?: boolean, port?: number }} [options]
 * @returns {Promise<import('./server.js').Server & DemoServer>}
 */
export async function serveDemo({ isolated = true, port = PORT } = {}) {
    const library = new ReaderServer();
    const handlers = {
        '/library': libraryHandler(library),
        '/provider': tokenHandler(farProvider()),
        '/provider-naive': tokenHandler(farProvider()),
    };
    return { ...(await createServer({ mounts: DEMO_MOUNTS, handlers, isolated, port })), library };
}
