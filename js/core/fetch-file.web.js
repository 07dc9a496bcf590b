import { requirePlatform } from '../common/require-platform.js';

/**
 * Fetches a file.
 *
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 * @param {string} what the name of the file, for messages
 * @returns {Promise<Response>}
 */
export async function fetchFile(platform, address, what) {
    requirePlatform(what, ['fetch'], platform);
    return platform.fetch(address);
}
