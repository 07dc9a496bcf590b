/**
 * Compiles WebAssembly from the source that a caller passed, and starts the glue that Emscripten has made for
 * it.
 */

import { invalid } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { compileBytes, compileWasm, startFailure, wasmSources } from './compile-wasm.js';

/**
 * The source of a module: an address, its bytes, or a compiled module.
 * @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource
 */

/**
 * Checks the source of a module, and returns it.
 *
 * @param {unknown} value
 * @param {string} argument its name in error messages
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
 * Describes, for messages, a module that the caller passed.
 *
 * @param {WasmSource} value
 * @param {string} argument its name in error messages
 * @returns {import('./compile-wasm.js').Origin}
 */
function originOf(value, argument) {
    const address = typeof value === 'string' || value instanceof URL ? String(value) : undefined;
    return { what: `the option ${argument}`, address, argument, value };
}

/**
 * Compiles a module from its source.
 *
 * @param {WasmSource} source
 * @param {string} argument its name in error messages
 * @returns {Promise<WebAssembly.Module>} rejects with `invalid-argument` if the source is no WebAssembly, and
 *   else as compileWasm() does
 */
export async function compile(source, argument) {
    if (source instanceof WebAssembly.Module) return source;
    const origin = originOf(source, argument);
    if (typeof source === 'string' || source instanceof URL)
        return compileWasm(source, origin.what, { argument });
    return compileBytes(source, origin);
}

/**
 * Returns a function that throws the error of a module that was compiled but does not start.
 *
 * @param {string} file the name of its file in the package
 * @param {WasmSource | undefined} wasm the source that the caller passed instead, if any
 * @param {string} argument its name in error messages
 * @returns {(cause: unknown) => never} throws `unavailable`, `out-of-memory` or `invalid-argument`
 */
export const notStarted = (file, wasm, argument) => (cause) => {
    throw startFailure(wasm === undefined ? { what: file } : originOf(wasm, argument), cause);
};

/**
 * Starts Emscripten's glue with a compiled module. If the module cannot be instantiated, the promise of the
 * glue never settles, so the error of the instantiation is awaited, too.
 *
 * @template Instance
 * @param {(options: object) => Promise<Instance>} start the function that the glue exports
 * @param {WebAssembly.Module} module
 * @param {object} [options] further options of the glue
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
