import { compileWasm } from '../../core/compile-wasm.js';

/** @returns {Promise<WebAssembly.Module>} threads.wasm from beside this package's modules */
export const threadsModule = () => compileWasm(new URL('./threads.wasm', import.meta.url), 'threads.wasm');
