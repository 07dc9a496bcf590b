import { compileFrom } from '../../core/fetch-wasm.web.js';

/** @returns {Promise<WebAssembly.Module>} threads.wasm from beside this package's modules */
export const threadsModule = () => compileFrom(new URL('./threads.wasm', import.meta.url));

// @ts-ignore: made by the build, and not there when types are checked
export { default as start } from './threads.js';
