/** The pieces of a tab's program, from beside the bundled modules. The literal addresses are what bundlers follow. */

import { compileWasm } from './compile-wasm.js';

/** @param {import('./program.js').PieceName} piece */
function addressOf(piece) {
    switch (piece) {
        case 'counters':
            return new URL('./counters.wasm', import.meta.url);
        case 'storage':
            return new URL('./storage.wasm', import.meta.url);
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
 * Begins to fetch before it returns.
 *
 * @param {import('./program.js').PieceName} piece
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileBeside = (piece) => compileWasm(addressOf(piece), `${piece}.wasm`);
