import { readFile } from 'node:fs/promises';

/**
 * The glue of one core, from beside the bundled modules: a page loads the core that it uses, and no
 * other. The literal imports are what bundlers look for.
 *
 * @param {'threads' | 'single'} build
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
export function loadGlue(build) {
    // @ts-ignore: made by the build, and not there when types are checked
    return build === 'threads' ? import('./threads.js') : import('./single.js');
}

/** In Node the glue reads its wasm from the disk, for which there is nothing to be done beforehand. */
export const compileBeside = () => Promise.resolve(undefined);

/**
 * Node's own fetch knows no files.
 * @param {string | URL} address
 */
export async function fetchBytes(address) {
    const url = new URL(address);
    if (url.protocol === 'file:') return new Uint8Array(await readFile(url));
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
