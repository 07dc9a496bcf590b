/**
 * The laboratory's module, from beside the bundled modules; the build writes it, with its types. The literal
 * import is what bundlers look for.
 */

export const loadGlue = () => import('./lab.js');

/** @returns {Promise<WebAssembly.Module | undefined>} */
export const compileBeside = () =>
    WebAssembly.compileStreaming(fetch(new URL('./lab.wasm', import.meta.url)));
