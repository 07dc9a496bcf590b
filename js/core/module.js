/** WebAssembly modules: from wherever a caller has them, and into the glue that Emscripten made. */

import { invalid } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { compileBytes, compileWasm, startFailure, wasmSources } from './compile-wasm.js';

/**
 * Where a module is to be had: an address, its bytes, or itself.
 * @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource
 */

/**
 * @param {unknown} value
 * @param {string} argument what the caller calls it
 */
export function checkWasm(value, argument) {
    requirePlatform(argument, ['WebAssembly']);
    const good =
        (typeof value === 'string' && value !== '') ||
        value instanceof URL ||
        value instanceof ArrayBuffer ||
        ArrayBuffer.isView(value) ||
        value instanceof WebAssembly.Module;
    if (!good) throw invalid(argument, value, wasmSources);
    return /** @type {WasmSource} */ (value);
}

/**
 * What messages call a module that the caller passed.
 *
 * @param {WasmSource} value
 * @param {string} argument what the caller calls it
 * @returns {import('./compile-wasm.js').Origin}
 */
function originOf(value, argument) {
    const address = typeof value === 'string' || value instanceof URL ? String(value) : undefined;
    return { what: `the option ${argument}`, address, argument, value };
}

/**
 * @param {WasmSource} source
 * @param {string} argument what the caller calls it
 * @returns {Promise<WebAssembly.Module>} rejects with `invalid-argument` if there is no wasm, and otherwise as
 *   compileWasm()
 */
export async function compile(source, argument) {
    if (source instanceof WebAssembly.Module) return source;
    const origin = originOf(source, argument);
    if (typeof source === 'string' || source instanceof URL)
        return compileWasm(source, origin.what, { argument });
    return compileBytes(source, origin);
}

/**
 * What a module that compiled and does not start is rejected with.
 *
 * @param {string} file the name of its wasm
 * @param {WasmSource | undefined} wasm what the caller passed instead
 * @param {string} argument what the caller calls that
 * @returns {(cause: unknown) => never} throws `unavailable`, `out-of-memory` or `invalid-argument`
 */
export const notStarted = (file, wasm, argument) => (cause) => {
    throw startFailure(wasm === undefined ? { what: file } : originOf(wasm, argument), cause);
};

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
