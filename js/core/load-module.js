/** Where the WebAssembly of a tab comes from: a file of the package for each piece, or what open() was given. */

import { compileBeside } from './wasm-beside.js';
import { compile, notStarted } from './module.js';

/** @typedef {import('./program.js').PieceName} PieceName */

/**
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<WebAssembly.Module>}
 */
export const compilePiece = (piece, wasm) =>
    wasm === undefined ? compileBeside(piece) : compile(wasm, optionOf(piece));

/**
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm
 */
export const pieceNotStarted = (piece, wasm) => notStarted(`${piece}.wasm`, wasm, optionOf(piece));

/** The option of open() that says where a piece is. @param {PieceName} piece */
const optionOf = (piece) => (piece === 'counters' ? 'wasm' : `wasm.${piece}`);
