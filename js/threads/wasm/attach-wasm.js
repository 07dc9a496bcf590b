import { compileFrom } from '../../core/fetch-wasm.web.js';

/** @returns {Promise<WebAssembly.Module>} attach.wasm from beside this package's modules */
export const attachModule = () => compileFrom(new URL('./attach.wasm', import.meta.url));
