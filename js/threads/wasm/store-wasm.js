import { compileWasm } from '../../core/compile-wasm.js';

/** @returns {Promise<WebAssembly.Module>} store.wasm from beside this package's modules */
export const storeModule = () => compileWasm(new URL('./store.wasm', import.meta.url), 'store.wasm');
