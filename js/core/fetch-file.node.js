import { readFile } from 'node:fs/promises';
import { requirePlatform } from '../common/require-platform.js';

/**
 * Fetches a file. A file of the disk is read directly, since Node's fetch() does not support `file:`
 * addresses, and test environments may have no fetch().
 *
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 * @param {string} what the name of the file, for messages
 * @returns {Promise<Pick<Response, 'status' | 'ok' | 'arrayBuffer'>>} a Response, or for a file of the disk
 *   the parts of a Response that are used here
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
