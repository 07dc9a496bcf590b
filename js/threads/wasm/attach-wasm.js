import { compileWasm } from '../../core/compile-wasm.js';

/** @returns {Promise<WebAssembly.Module>} attach.wasm from beside this package's modules */
export const attachModule = () => compileWasm(new URL('./attach.wasm', import.meta.url), 'attach.wasm');
