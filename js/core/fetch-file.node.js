import { readFile } from 'node:fs/promises';

/**
 * Node's own fetch() knows no files.
 *
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 * @returns {Promise<Response>}
 */
export async function fetchFile(platform, address) {
    if (!address.startsWith('file:')) return platform.fetch(address);
    try {
        return new Response(new Uint8Array(await readFile(new URL(address))));
    } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
        return new Response(null, { status: 404 });
    }
}
