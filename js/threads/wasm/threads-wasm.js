import { compileWasm } from '../../core/compile-wasm.js';

/** Compiles the threads.wasm beside the package's modules. @returns {Promise<WebAssembly.Module>} */
export const threadsModule = () => compileWasm(new URL('./threads.wasm', import.meta.url), 'threads.wasm');
