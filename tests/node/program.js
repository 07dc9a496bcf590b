/** Starts the program of a tab, with its pieces, for tests. */

import { readFileSync } from 'node:fs';
import { Bridge } from '../../js/core/bridge.js';
import { coordinationNew } from '../../js/core/generated/coordination.js';
import { Program } from '../../js/core/program.js';

/** @typedef {import('../../js/core/program.js').PieceName} PieceName */

/** @param {PieceName} piece */
export const wasmOf = (piece) => readFileSync(new URL(`../../dist/node/${piece}.wasm`, import.meta.url));

/**
 * Starts the program on a host, with further pieces.
 *
 * @param {import('../../js/host/host.js').Host} host
 * @param {PieceName[]} pieces
 */
export async function startBridge(host, pieces) {
    const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    const bridge = new Bridge(program.glue, host, { notice() {}, fail() {} });
    for (const piece of pieces)
        bridge.contain(await program.add(piece, await WebAssembly.compile(wasmOf(piece))));
    bridge.start('test');
    if (pieces.length > 0) bridge.coordination = coordinationNew(bridge, bridge.core);
    return bridge;
}
