/** The module of the locks, from beside the bundled modules; see core/load.web.js. */

/** @returns {Promise<{ default: (options: object) => Promise<any> }>} */
export const loadGlue = () =>
    // @ts-ignore: made by the build, and not there when types are checked
    import('./locks.js');

/** @returns {Promise<WebAssembly.Module | undefined>} */
export const compileBeside = () =>
    WebAssembly.compileStreaming(fetch(new URL('./locks.wasm', import.meta.url)));
