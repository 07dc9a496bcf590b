/** The emulator's module, from beside the bundled modules; the build writes it, with its types. */

import { resolveObjectURL } from 'node:buffer';

export const loadGlue = () => import('./emulator.js');

/** In Node the glue reads its wasm from the disk, for which there is nothing to be done beforehand. */
export const compileBeside = () => Promise.resolve(undefined);

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export async function textOfBlob(url) {
    const blob = resolveObjectURL(url);
    if (!blob) throw new TypeError(`${url} names no blob`);
    return blob.text();
}
