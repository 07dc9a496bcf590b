/** The C++ modules of a tab: which, from where, and their functions as types. */

import { TabacusError } from '../common/errors.js';
import { compileBeside, loadGlue } from './load.web.js';
import { compile, instantiated } from './module.js';

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
    const given =
        wasm === undefined ? compileBeside(name).catch(() => undefined) : compile(wasm, optionOf(name));
    const [glue, module] = await Promise.all([loadGlue(name).catch(unavailable(name)), given]);
    const starting = module ? instantiated(glue.default, module) : glue.default({});
    return starting.catch(unavailable(name));
}

/**
 * @param {ModuleName | 'threads'} name
 * @returns {(cause: unknown) => never}
 */
export const unavailable = (name) => (cause) => {
    if (cause instanceof RangeError)
        throw new TabacusError('out-of-memory', `no memory for ${name}.wasm`, { cause });
    const where = `they must be beside the package's modules (its wasm may be passed as \`${optionOf(name)}\`)`;
    throw new TabacusError('unavailable', `${name}.js or ${name}.wasm could not be loaded: ${where}`, {
        cause,
    });
};

/** The option of open(), or of threads(), that says where a module's wasm is. @param {ModuleName | 'threads'} name */
const optionOf = (name) => (name === 'single' || name === 'threads' ? 'wasm' : name);
