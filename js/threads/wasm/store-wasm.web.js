/** @returns {Promise<WebAssembly.Module>} store.wasm from beside this package's modules */
export const storeModule = () =>
    WebAssembly.compileStreaming(fetch(new URL('./store.wasm', import.meta.url)));
