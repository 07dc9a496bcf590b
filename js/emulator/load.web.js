/**
 * The emulator's module, from beside the bundled modules; the build writes it, with its types. The literal
 * import is what bundlers look for.
 */

import { compileWasm } from '../core/compile-wasm.js';

export const loadGlue = () => import('./emulator.js');

export const compileBeside = () => compileWasm(new URL('./emulator.wasm', import.meta.url), 'emulator.wasm');

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export const textOfBlob = async (url) => (await fetch(url)).text();
