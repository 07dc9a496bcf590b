/** Where the WebAssembly of a tab comes from: a file of the package for each piece, or what open() was given. */

import { TabacusError } from '../common/errors.js';
import { compileBeside } from './wasm-beside.js';
import { compile } from './module.js';

/** @typedef {import('./program.js').PieceName} PieceName */

/**
 * @param {PieceName} piece
 * @param {import('./module.js').WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<WebAssembly.Module>}
 */
export const compilePiece = (piece, wasm) =>
    wasm === undefined ? compileBeside(piece).catch(unavailable(piece)) : compile(wasm, optionOf(piece));

/** The option of open() that says where a piece is. @param {PieceName} piece */
const optionOf = (piece) => (piece === 'counters' ? 'wasm' : `wasm.${piece}`);

/**
 * @param {PieceName | 'threads'} name
 * @returns {(cause: unknown) => never}
 */
export const unavailable = (name) => (cause) => {
    if (cause instanceof TabacusError) throw cause;
    if (cause instanceof RangeError)
        throw new TabacusError('out-of-memory', `no memory for ${name}.wasm`, { cause });
    const where =
        name === 'threads' ? 'its wasm may be passed as `wasm`' : `it may be passed as \`${optionOf(name)}\``;
    throw new TabacusError(
        'unavailable',
        `${name}.wasm could not be loaded: it must be beside the package's modules (${where})`,
        { cause },
    );
};
