/**
 * Loads the pieces of a tab's program: each from a file of the package, or from the source that open() was
 * given.
 */

import { compileBeside } from './wasm-beside.js';
import { compile, notStarted } from './module.js';

/** @typedef {import('./program.js').PieceName} PieceName */

/**
 * Fetches and compiles a piece.
 *
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm undefined for the file beside the package's
 *   modules
 * @returns {Promise<WebAssembly.Module>}
 */
export const compilePiece = (piece, wasm) =>
    wasm === undefined ? compileBeside(piece) : compile(wasm, optionOf(piece));

/**
 * Returns a function that throws the error of a piece that does not start.
 *
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm
 */
export const pieceNotStarted = (piece, wasm) => notStarted(`${piece}.wasm`, wasm, optionOf(piece));

/** Returns the name of the option of open() for the source of a piece. @param {PieceName} piece */
const optionOf = (piece) => (piece === 'counters' ? 'wasm' : `wasm.${piece}`);
