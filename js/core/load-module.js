/** The C++ modules of a tab: which, from where, and their functions as types. */

import { compileBeside, loadGlue } from './load.web.js';
import { start } from './module.js';

/** @typedef {'single' | 'coordination'} ModuleName */

/**
 * What is called, and the arguments as js/core/generated/host-calls.js assigns them.
 *
 * @typedef {[call: number, a: number, b: number, c: number, d: number, number: number, first: number,
 *   firstSize: number, second: number, secondSize: number]} HostCallArguments
 */

/**
 * An instance of a module: its exports, and its one import.
 *
 * @typedef {{ HEAPU8: Uint8Array, tabacusCall: (...call: HostCallArguments) => unknown } &
 *   import('./generated/glue.js').Exports} Glue
 */

/**
 * An instance of its own for each tab: what a tab leaves behind goes with it.
 *
 * @param {ModuleName} name
 * @param {import('./module.js').WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<Glue>}
 */
export async function loadModule(name, wasm) {
    const argument = name === 'single' ? 'wasm' : name;
    return start(`${name}.wasm`, loadGlue(name), () => compileBeside(name), { wasm, argument });
}
