/** The C++ core of a tab: which build, from where, and its methods as types. */

import { invalid, TabacusError } from '../errors.js';
import { compileBeside, loadGlue } from './load.web.js';

/** @typedef {'threads' | 'single'} Build */

/**
 * Where a core's wasm is to be had: an address, its bytes, or itself.
 * @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource
 */

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
 * @param {WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<Glue>}
 */
export async function loadCore(build, wasm) {
    return instantiate(
        build,
        loadGlue(build),
        wasm ? compile(wasm) : compileBeside(build).catch(() => undefined),
    );
}

/**
 * @param {string} build
 * @param {Promise<{ default: (options: object) => Promise<any> }>} glue
 * @param {Promise<WebAssembly.Module | undefined>} wasm
 * @returns {Promise<Glue>}
 */
export async function instantiate(build, glue, wasm) {
    const [{ default: start }, module] = await Promise.all([glue, wasm]);
    try {
        return await (module ? instantiated(start, module) : start({}));
    } catch (cause) {
        throw new TabacusError(
            'unavailable',
            `${build}.wasm could not be loaded: it must be beside the package's modules, or passed as wasm`,
            { cause },
        );
    }
}

/**
 * The glue waits for ever where instantiating fails in a function of ours, so we do not wait for it alone.
 *
 * @param {(options: object) => Promise<Glue>} start
 * @param {WebAssembly.Module} module
 * @returns {Promise<Glue>}
 */
function instantiated(start, module) {
    return new Promise((resolve, reject) => {
        /**
         * @param {WebAssembly.Imports} imports
         * @param {(instance: WebAssembly.Instance, module: WebAssembly.Module) => void} receive
         */
        const instantiateWasm = (imports, receive) => {
            WebAssembly.instantiate(module, imports)
                .then((instance) => receive(instance, module))
                .catch(reject);
            return {};
        };
        start({ instantiateWasm }).then(resolve, reject);
    });
}

/**
 * @param {WasmSource} source
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    try {
        if (typeof source !== 'string' && !(source instanceof URL)) return await WebAssembly.compile(source);
        const response = await fetch(source);
        if (!response.ok) throw new Error(`${response.status} ${response.url}`);
        return await WebAssembly.compile(await response.arrayBuffer());
    } catch (cause) {
        throw Object.assign(invalid('wasm', source, 'the address, the bytes or the module of its wasm'), { cause });
    }
}
