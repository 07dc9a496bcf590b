/** The size of what a page loads of the package: the files that it requests from the server, compressed. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

import { call, DIST } from '../lib/context.js';

/** The targets in the README, in units of 1024 bytes, by the function of bench/page/payload.js. */
const LIMITS_KB = Object.freeze({ count: 40, countShared: 52 });

const AT = '/dist/';

/** @param {string} path */
export function brotliBytes(path) {
    const bytes = readFileSync(path);
    const params = {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    return brotliCompressSync(bytes, { params }).length;
}

/**
 * The files that a page loads. A file counts once, however many threads request it, since browsers cache it.
 *
 * @param {import('../lib/context.js').Context} context
 * @param {'count' | 'countShared' | 'countInThreads'} name a function of bench/page/payload.js
 * @param {{ isolated?: boolean }} [options]
 * @returns {Promise<{ file: string, bytes: number }[]>}
 */
export async function loaded({ openTab, servers }, name, { isolated = true } = {}) {
    const { port } = isolated ? servers.isolated : servers.plain;
    /** @type {Set<string>} */
    const paths = new Set();
    /** @param {any} message */
    const onRequest = ({ request }) => {
        if (request.socket.localPort === port) paths.add(request.url);
    };
    subscribe('http.server.request.start', onRequest);
    const tab = await openTab('payload.html', { isolated });
    await call(tab, name);
    await tab.close();
    unsubscribe('http.server.request.start', onRequest);
    return [...paths]
        .filter((path) => path.startsWith(AT))
        .map((path) => ({ file: path, bytes: brotliBytes(join(DIST, path.slice(AT.length))) }));
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function payload(context) {
    const rows = [];
    for (const page of /** @type {const} */ (['count', 'countShared'])) {
        const files = await loaded(context, page);
        const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
        rows.push({
            name: page === 'count' ? 'payload of a page of counters' : 'payload with threads()',
            unit: 'KB',
            peer: 'the limit; brotli',
            samples: { ours: [bytes / 1024], peer: [LIMITS_KB[page]] },
            target: { most: 1 },
            note: files.map((one) => `${one.file.replace(/.*\//, '')} ${one.bytes}`).join(', '),
        });
    }
    return rows;
}
