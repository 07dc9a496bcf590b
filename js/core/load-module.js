/**
 * Loads the pieces of a tab's program: each from a file of the package, or from the source that open() was
 * given.
 */

import { compileBeside } from './wasm-beside.js';
import { compile, notStarted } from './module.js';

/** @typedef {import('./program.js').PieceName} PieceName */

/**
 * The compiled files. A page that opens several namespaces, one after another, compiles each file only once;
 * the engine would optimise a module anew if it were compiled again. A fetch under way is not kept here,
 * because it may never end.
 *
 * @type {Map<PieceName, WebAssembly.Module>}
 */
const compiled = new Map();

/**
 * Fetches and compiles a piece, unless this page has done so. The fetch begins before this returns.
 *
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm undefined for the file beside the package's
 *   modules
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compilePiece(piece, wasm) {
    if (wasm !== undefined) return compile(wasm, optionOf(piece));
    const module = compiled.get(piece) ?? (await compileBeside(piece));
    compiled.set(piece, module);
    return module;
}

/**
 * Returns a function that throws the error of a piece that does not start. The next call fetches the piece again: after a
 * deployment, the file may have been one of another build.
 *
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm
 */
export const pieceNotStarted = (piece, wasm) => (/** @type {unknown} */ cause) => {
    compiled.delete(piece);
    return notStarted(`${piece}.wasm`, wasm, optionOf(piece))(cause);
};

/** Returns the name of the option of open() for the source of a piece. @param {PieceName} piece */
const optionOf = (piece) => (piece === 'counters' ? 'wasm' : `wasm.${piece}`);
