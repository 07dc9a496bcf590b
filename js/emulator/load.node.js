/** Loads the module of the emulator, which is beside the bundled modules. The build writes it and its types. */

import { resolveObjectURL } from 'node:buffer';
import { compileWasm } from '../core/compile-wasm.js';

export { default as start } from './emulator.js';

export const compileBeside = () => compileWasm(new URL('./emulator.wasm', import.meta.url), 'emulator.wasm');

/**
 * The text of the blob for which URL.createObjectURL() returned a URL.
 *
 * @param {string} url
 * @returns {Promise<string>}
 */
export async function textOfBlob(url) {
    const blob = resolveObjectURL(url);
    if (!blob) throw new TypeError(`${url} names no blob`);
    return blob.text();
}
