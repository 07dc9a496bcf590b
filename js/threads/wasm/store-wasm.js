import { compileWasm } from '../../core/compile-wasm.js';

/** Compiles the store.wasm beside the package's modules. @returns {Promise<WebAssembly.Module>} */
export const storeModule = () => compileWasm(new URL('./store.wasm', import.meta.url), 'store.wasm');
