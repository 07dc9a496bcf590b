/**
 * The emulator's module, from beside the bundled modules; the build writes it, with its types. The literal
 * import is what bundlers look for.
 */

export const loadGlue = () => import('./emulator.js');

/** @returns {Promise<WebAssembly.Module | undefined>} */
export const compileBeside = () =>
    WebAssembly.compileStreaming(fetch(new URL('./emulator.wasm', import.meta.url)));

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export const textOfBlob = async (url) => (await fetch(url)).text();
