/** The pieces of a tab's program in the files beside the bundled modules. */

import { compileWasm } from './compile-wasm.js';

/**
 * Returns the address of a piece. Each address is a literal, because bundlers look for this form.
 *
 * @param {import('./program.js').PieceName} piece
 */
function addressOf(piece) {
    switch (piece) {
        case 'counters':
            return new URL('./counters.wasm', import.meta.url);
        case 'storage':
            return new URL('./storage.wasm', import.meta.url);
        case 'gather':
            return new URL('./gather.wasm', import.meta.url);
        case 'transfer':
            return new URL('./transfer.wasm', import.meta.url);
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

/**
 * Fetches and compiles a piece. The fetch begins before this returns.
 *
 * @param {import('./program.js').PieceName} piece
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileBeside = (piece) => compileWasm(addressOf(piece), `${piece}.wasm`);
