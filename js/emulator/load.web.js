/**
 * Loads the module of the emulator, which is beside the bundled modules. The build writes it and its types. Bundlers
 * follow its address, since that is a literal.
 */

import { compileWasm } from '../core/compile-wasm.js';

export { default as start } from './emulator.js';

export const compileBeside = () => compileWasm(new URL('./emulator.wasm', import.meta.url), 'emulator.wasm');

/**
 * The text of the blob for which URL.createObjectURL() returned a URL.
 *
 * @param {string} url
 * @returns {Promise<string>}
 */
export const textOfBlob = async (url) => (await fetch(url)).text();
