/**
 * The media type of a file, by the end of its name. `application/wasm` must be exact, since
 * `WebAssembly.instantiateStreaming` refuses every other type (WebAssembly Web API, §6).
 */

import { extname } from 'node:path';

/** @type {Record<string, string>} */
const TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.gif': 'image/gif',
    '.html': 'text/html; charset=utf-8',
    '.ico': 'image/x-icon',
    '.jpg': 'image/jpeg',
    '.js': 'text/javascript; charset=utf-8',
    '.json': 'application/json; charset=utf-8',
    '.map': 'application/json; charset=utf-8',
    '.md': 'text/markdown; charset=utf-8',
    '.mjs': 'text/javascript; charset=utf-8',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8',
    '.wasm': 'application/wasm',
    '.webmanifest': 'application/manifest+json',
    '.woff2': 'font/woff2',
};

/** The type of unknown files: with `nosniff`, a browser neither runs nor shows them. */
const UNKNOWN = 'application/octet-stream';

/**
 * @param {string} file
 * @returns {string}
 */
export function mediaType(file) {
    return TYPES[extname(file).toLowerCase()] ?? UNKNOWN;
}
