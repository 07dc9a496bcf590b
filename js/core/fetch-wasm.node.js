/** Bytes and modules from an address. */

import { readFile } from 'node:fs/promises';

/**
 * A module from beside the package's modules.
 *
 * @param {URL} address
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileFrom = async (address) => WebAssembly.compile(await fetchBytes(address));

/**
 * Node's own fetch knows no files.
 *
 * @param {string | URL} address
 * @returns {Promise<BufferSource>}
 */
export async function fetchBytes(address) {
    const url = new URL(address);
    if (url.protocol === 'file:') return new Uint8Array(await readFile(url));
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
