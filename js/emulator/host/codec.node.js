/**
 * Compresses and decompresses by node:zlib, as Node's own streams do. The emulator does not use those, because their
 * writable side accepts a chunk before it is transformed, so that the end of that work could not be observed.
 */

import zlib from 'node:zlib';
import { hostTask } from '../common/host-task.js';

/** @typedef {import('node:stream').Transform} Transform */

/** @type {Record<string, ((options: any) => Transform)[]>} */
const makers = {
    deflate: [zlib.createDeflate, zlib.createInflate],
    'deflate-raw': [zlib.createDeflateRaw, zlib.createInflateRaw],
    gzip: [zlib.createGzip, zlib.createGunzip],
    brotli: [zlib.createBrotliCompress, zlib.createBrotliDecompress],
};

/** The formats of the standard. A host may know more. */
const standard = ['deflate', 'deflate-raw', 'gzip'];

/**
 * @param {'CompressionStream' | 'DecompressionStream'} name
 * @param {string} format
 * @returns {import('./compression-streams.js').Codec}
 * @throws {TypeError} if the host does not know the format
 */
export function codecOf(name, format) {
    if (!standard.includes(format)) void new globalThis[name](/** @type {any} */ (format));
    const maker = makers[format]?.[name === 'CompressionStream' ? 0 : 1];
    if (!maker) throw new TypeError(`${name}: the format '${format}' is not supported`);
    // Data after the end are an error (Compression Standard §6). Older versions of Node ignore the option.
    const stream = maker({ rejectGarbageAfterEnd: true });
    /** @type {Uint8Array[]} */
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(new Uint8Array(chunk)));
    /** @param {(done: (error?: Error | null) => void) => void} begin */
    const run = (begin) =>
        new Promise((resolve, reject) => {
            stream.once('error', reject);
            begin((error) => {
                stream.off('error', reject);
                if (error) reject(error);
                // A chunk may be emitted in the task after that which calls back.
                else hostTask(() => resolve(chunks.splice(0)), true);
            });
        });
    return {
        transform: (bytes) => run((done) => stream.write(bytes, done)),
        flush: () =>
            run((done) => {
                stream.once('end', done);
                stream.end();
            }),
    };
}
