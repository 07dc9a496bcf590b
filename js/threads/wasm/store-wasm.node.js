import { readFile } from 'node:fs/promises';

/** @returns {Promise<WebAssembly.Module>} store.wasm from beside this package's modules */
export const storeModule = async () =>
    WebAssembly.compile(new Uint8Array(await readFile(new URL('./store.wasm', import.meta.url))));
