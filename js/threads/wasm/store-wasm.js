import { compileFrom } from '../../core/fetch-wasm.web.js';

/** @returns {Promise<WebAssembly.Module>} store.wasm from beside this package's modules */
export const storeModule = () => compileFrom(new URL('./store.wasm', import.meta.url));
