/** The C++ modules of a tab: which, from where, and their functions as types. */

import { TabacusError } from '../common/errors.js';
import { compileBeside, loadGlue } from './load.web.js';
import { compile, instantiated } from './module.js';

/** @typedef {'single' | 'coordination'} ModuleName */

/**
 * An instance of a module: its exports, and its one import. The counters (wasm/src/bindings/tab.cpp) have all
 * but _count_add, what coordinates tabs (wasm/src/bindings/coordination) all but _tab_open, _tab_close,
 * _tab_capabilities and _count_increment. The other exports of the latter Bridge.invoke() calls by their names.
 *
 * @typedef {object} Glue
 * @property {Uint8Array} HEAPU8
 * @property {(what: number, operation: number, object: number, number: number, first: number,
 *   firstSize: number, second: number, secondSize: number) => number} tabacusCall
 * @property {(size: number) => number} _tab_buffer
 * @property {(program: number) => number} _tab_new
 * @property {(tab: number, event: number, number: number) => void} _tab_event
 * @property {(tab: number, promise: number) => void} _tab_open
 * @property {(tab: number, promise: number) => void} _tab_close
 * @property {(tab: number, promise: number) => void} _tab_capabilities
 * @property {(tab: number, strict: number, promise: number) => number} _tab_counter
 * @property {(counter: number, n: number) => number} _count_increment
 * @property {(counter: number) => number} _count_value
 * @property {(counter: number, n: number, promise: number) => void} _count_add
 * @property {(counter: number, promise: number) => void} _count_read
 * @property {(counter: number, promise: number) => void} _count_flush
 * @property {(counter: number, promise: number) => void} _count_guarantee
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
