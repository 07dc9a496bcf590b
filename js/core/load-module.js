/** The C++ modules of a tab: which, from where, and their functions as types. */

import { TabacusError } from '../common/errors.js';
import { compile, instantiated } from './module.js';
import { compileBeside } from './wasm-beside.js';

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
 * Emscripten's glue of a module: makes an instance of it.
 * @typedef {(options: object) => Promise<any>} Start
 */

/**
 * The module's wasm. Begins to fetch before it returns.
 *
 * @param {ModuleName} name
 * @param {import('./module.js').WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileModule = (name, wasm) =>
    wasm === undefined ? compileBeside(name).catch(unavailable(name)) : compile(wasm, optionOf(name));

/**
 * An instance of its own for each tab: what a tab leaves behind goes with it.
 *
 * @param {ModuleName} name
 * @param {Start} start
 * @param {Promise<WebAssembly.Module>} module
 * @returns {Promise<Glue>}
 */
export const startModule = async (name, start, module) =>
    instantiated(start, await module).catch(unavailable(name));

/**
 * @param {ModuleName | 'threads'} name
 * @returns {(cause: unknown) => never}
 */
export const unavailable = (name) => (cause) => {
    if (cause instanceof RangeError)
        throw new TabacusError('out-of-memory', `no memory for ${name}.wasm`, { cause });
    const where = `it must be beside the package's modules (or be passed as \`${optionOf(name)}\`)`;
    throw new TabacusError('unavailable', `${name}.wasm could not be loaded: ${where}`, {
        cause,
    });
};

/** The option of open(), or of threads(), that says where a module's wasm is. @param {ModuleName | 'threads'} name */
const optionOf = (name) => (name === 'single' || name === 'threads' ? 'wasm' : name);
