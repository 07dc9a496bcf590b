/**
 * The demo's addresses: the page at `/`, the built package at `/dist`, the plotting library at
 * `/uplot`, and the service worker at the top, since its scope is the folder that it lies in.
 */

import { createServer } from './server.js';

/** Where people expect a page in development; a taken port gives way to a free one. */
const PORT = 8080;

/** @param {string} path */
const here = (path) => new URL(path, import.meta.url);

export const DEMO_MOUNTS = Object.freeze({
    '/': here('../demo'),
    '/dist': here('../dist'),
    '/uplot': here('../node_modules/uplot/dist'),
    '/isolation.js': here('./isolation.js'),
    '/isolation-worker.js': here('./isolation-worker.js'),
});

/**
 * @param {{ isolated?: boolean, port?: number }} [options]
 * @returns {Promise<import('./server.js').Server>}
 */
export function serveDemo({ isolated = true, port = PORT } = {}) {
    return createServer({ mounts: DEMO_MOUNTS, isolated, port });
}
