import { readFile } from 'node:fs/promises';

/**
 * The glue of threads.wasm, which Emscripten made.
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
// @ts-ignore: made by the build, and not there when types are checked
export const loadThreadsGlue = () => import('./threads.js');

/** @param {import('./program.js').PieceName} piece */
export const compileBeside = async (piece) =>
    WebAssembly.compile(await readFile(new URL(`./${piece}.wasm`, import.meta.url)));

/**
 * Node's own fetch knows no files.
 * @param {string | URL} address
 */
export async function fetchBytes(address) {
    const url = new URL(address);
    if (url.protocol === 'file:') return new Uint8Array(await readFile(url));
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
