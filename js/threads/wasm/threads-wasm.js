import { compileWasm } from '../../core/compile-wasm.js';

/** @returns {Promise<WebAssembly.Module>} threads.wasm from beside this package's modules */
export const threadsModule = () => compileWasm(new URL('./threads.wasm', import.meta.url), 'threads.wasm');

// @ts-ignore: made by the build, and not there when types are checked
export { default as start } from './threads.js';
