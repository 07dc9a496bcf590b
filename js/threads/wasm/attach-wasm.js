import { compileWasm } from '../../core/compile-wasm.js';

/** Compiles the attach.wasm beside the package's modules. @returns {Promise<WebAssembly.Module>} */
export const attachModule = () => compileWasm(new URL('./attach.wasm', import.meta.url), 'attach.wasm');
