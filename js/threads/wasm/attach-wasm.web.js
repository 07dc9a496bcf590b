/** @returns {Promise<WebAssembly.Module>} attach.wasm from beside this package's modules */
export const attachModule = () =>
    WebAssembly.compileStreaming(fetch(new URL('./attach.wasm', import.meta.url)));
