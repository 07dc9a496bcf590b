/**
 * The emulator's module, from beside the bundled modules; the build writes it, with its types. The literal
 * address is what bundlers follow.
 */

import { compileWasm } from '../core/compile-wasm.js';

export { default as start } from './emulator.js';

export const compileBeside = () => compileWasm(new URL('./emulator.wasm', import.meta.url), 'emulator.wasm');

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export const textOfBlob = async (url) => (await fetch(url)).text();
