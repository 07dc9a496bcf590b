/**
 * Files beside the bundled modules. The literal addresses and imports are what bundlers follow.
 */

/**
 * The glue of threads.wasm, which Emscripten made.
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
// @ts-ignore: made by the build, and not there when types are checked
export const loadThreadsGlue = () => import('./threads.js');

/** @param {import('./program.js').PieceName} piece */
export const compileBeside = (piece) => WebAssembly.compileStreaming(fetch(addressOf(piece)));

/** @param {import('./program.js').PieceName} piece */
function addressOf(piece) {
    switch (piece) {
        case 'counters':
            return new URL('./counters.wasm', import.meta.url);
        case 'locks':
            return new URL('./locks.wasm', import.meta.url);
        case 'leader':
            return new URL('./leader.wasm', import.meta.url);
        case 'lease':
            return new URL('./lease.wasm', import.meta.url);
        case 'queue':
            return new URL('./queue.wasm', import.meta.url);
        case 'limits':
            return new URL('./limits.wasm', import.meta.url);
        case 'catalogue':
            return new URL('./catalogue.wasm', import.meta.url);
    }
}

/** @param {string | URL} address */
export async function fetchBytes(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
