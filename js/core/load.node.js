import { readFile } from 'node:fs/promises';
import { moduleRegistry } from './module-registry.js';

/**
 * The glue of one module, from beside the bundled modules: a page loads what it uses, and no more. The
 * literal imports are what bundlers follow.
 *
 * @param {import('./load-module.js').ModuleName | 'threads'} name
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
export function loadGlue(name) {
    const given = moduleRegistry.get(`glue ${name}`);
    if (given) return Promise.resolve(given);
    switch (name) {
        case 'threads':
            // @ts-ignore: made by the build, and not there when types are checked
            return import('./threads.js');
        case 'single':
            // @ts-ignore: as above
            return import('./single.js');
        default:
            // @ts-ignore: as above
            return import('./coordination.js');
    }
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
