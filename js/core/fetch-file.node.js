import { readFile } from 'node:fs/promises';
import { requirePlatform } from '../common/require-platform.js';

/**
 * Node's own fetch() knows no files, and test environments may have none.
 *
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 * @param {string} what is fetched, for messages
 * @returns {Promise<Pick<Response, 'status' | 'ok' | 'arrayBuffer'>>} of a file: what is asked of a Response
 */
export async function fetchFile(platform, address, what) {
    if (!address.startsWith('file:')) {
        requirePlatform(what, ['fetch'], platform);
        return platform.fetch(address);
    }
    try {
        const { buffer } = new Uint8Array(await readFile(new URL(address)));
        return { ok: true, status: 200, arrayBuffer: async () => buffer };
    } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
        return { ok: false, status: 404, arrayBuffer: () => Promise.reject(error) };
    }
}
