import { readFile } from 'node:fs/promises';

/** @returns {Promise<WebAssembly.Module>} attach.wasm from beside this package's modules */
export const attachModule = async () =>
    WebAssembly.compile(new Uint8Array(await readFile(new URL('./attach.wasm', import.meta.url))));
