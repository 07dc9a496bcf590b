/** WebAssembly modules: from wherever a caller has them, and into the glue that Emscripten made. */

import { invalid } from '../common/errors.js';
import { fetchBytes } from './fetch-wasm.web.js';

/**
 * Where a module is to be had: an address, its bytes, or itself.
 * @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource
 */

/**
 * @param {unknown} value
 * @param {string} argument what the caller calls it
 */
export function checkWasm(value, argument) {
    const good =
        (typeof value === 'string' && value !== '') ||
        value instanceof URL ||
        value instanceof ArrayBuffer ||
        ArrayBuffer.isView(value) ||
        value instanceof WebAssembly.Module;
    if (!good) throw invalid(argument, value, 'an address, bytes or a WebAssembly.Module');
    return /** @type {WasmSource} */ (value);
}

/**
 * @param {WasmSource} source
 * @param {string} argument what the caller calls it
 * @returns {Promise<WebAssembly.Module>} `invalid-argument` when it cannot be had, or is no wasm
 */
export async function compile(source, argument) {
    if (source instanceof WebAssembly.Module) return source;
    try {
        const given = typeof source === 'string' || source instanceof URL ? await fetchBytes(source) : source;
        return await WebAssembly.compile(given);
    } catch (cause) {
        throw Object.assign(invalid(argument, source, 'the address, the bytes or the module of its wasm'), {
            cause,
        });
    }
}

/**
 * Starts Emscripten's glue with a module that we compiled. The glue waits for ever where instantiating
 * fails in a function of ours, so we do not wait for it alone.
 *
 * @template Instance
 * @param {(options: object) => Promise<Instance>} start
 * @param {WebAssembly.Module} module
 * @param {object} [options] further ones
 * @returns {Promise<Instance>}
 */
export function instantiated(start, module, options) {
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
        start({ ...options, instantiateWasm }).then(resolve, reject);
    });
}
