/** The emulator's module, from beside the bundled modules; the literal import is what bundlers look for. */

/** @returns {Promise<{ default: (options: object) => Promise<any> }>} */
export function loadGlue() {
    // @ts-ignore: made by the build, and not there when types are checked
    return import('./emulator.js');
}

/** @returns {Promise<WebAssembly.Module | undefined>} */
export const compileBeside = () =>
    WebAssembly.compileStreaming(fetch(new URL('./emulator.wasm', import.meta.url)));

/** What URL.createObjectURL() made a URL of. @param {string} url @returns {Promise<string>} */
export const textOfBlob = async (url) => (await fetch(url)).text();
