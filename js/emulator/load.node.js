/** The emulator's module, from beside the bundled modules; the build writes it, with its types. */

import { resolveObjectURL } from 'node:buffer';
import { compileFrom } from '../core/fetch-wasm.web.js';

export { default as start } from './emulator.js';

export const compileBeside = () => compileFrom(new URL('./emulator.wasm', import.meta.url));

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export async function textOfBlob(url) {
    const blob = resolveObjectURL(url);
    if (!blob) throw new TypeError(`${url} names no blob`);
    return blob.text();
}
