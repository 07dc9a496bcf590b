/** The C++ core of a tab: which build, from where, and its methods as types. */

import { TabacusError } from '../errors.js';
import { compileBeside, loadGlue } from './load.web.js';
import { compile, instantiated } from './module.js';

/** @typedef {'threads' | 'single'} Build */

/**
 * An instance of the core: its exports (wasm/src/bindings/tab.cpp), and its one import.
 *
 * @typedef {object} Glue
 * @property {Uint8Array} HEAPU8
 * @property {(what: number, operation: number, object: number, number: number, first: number,
 *   firstSize: number, second: number, secondSize: number) => number} tabacusCall
 * @property {(size: number) => number} _tab_room
 * @property {() => number} _tab_new
 * @property {(tab: number, event: number, number: number) => void} _tab_event
 * @property {(tab: number, promise: number) => void} _tab_open
 * @property {(tab: number, promise: number) => void} _tab_close
 * @property {(tab: number, promise: number) => void} _tab_capabilities
 * @property {(tab: number, strict: number, promise: number) => number} _tab_counter
 * @property {(counter: number, n: number) => number} _tally_increment
 * @property {(counter: number) => number} _tally_value
 * @property {(counter: number, n: number, promise: number) => void} _tally_add
 * @property {(counter: number, promise: number) => void} _tally_read
 * @property {(counter: number, promise: number) => void} _tally_flush
 * @property {(counter: number, promise: number) => void} _tally_guarantee
 */

/**
 * A core of its own for each tab: what a tab leaves behind goes with it.
 *
 * @param {Build} build
 * @param {import('./module.js').WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<Glue>}
 */
export async function loadCore(build, wasm) {
    const given = wasm === undefined ? compileBeside(build).catch(() => undefined) : compile(wasm, 'wasm');
    const [glue, module] = await Promise.all([loadGlue(build).catch(unavailable(build)), given]);
    const starting = module ? instantiated(glue.default, module) : glue.default({});
    return starting.catch(unavailable(build));
}

/**
 * @param {Build} build
 * @returns {(cause: unknown) => never}
 */
export const unavailable = (build) => (cause) => {
    const where = "they must be beside the package's modules (its wasm may be passed as `wasm`)";
    throw new TabacusError('unavailable', `${build}.js or ${build}.wasm could not be loaded: ${where}`, { cause });
};
