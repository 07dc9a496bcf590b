import { requirePlatform } from '../common/require-platform.js';

/**
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 * @param {string} what is fetched, for messages
 * @returns {Promise<Response>}
 */
export async function fetchFile(platform, address, what) {
    requirePlatform(what, ['fetch'], platform);
    return platform.fetch(address);
}
