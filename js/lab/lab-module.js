/** Loads the laboratory's C++ module, whose bindings are in wasm/src/bindings/lab/lab.cpp. */

import { compile, instantiated, notStarted } from '../core/module.js';
import { compileBeside, start } from './load.js';

/** @typedef {import('./lab.js').MainModule} Lab */

/**
 * Loads the module.
 *
 * @param {import('../core/module.js').WasmSource | undefined} wasm undefined for the file beside the
 *   package's modules
 * @returns {Promise<Lab>} rejects with `unavailable`, `out-of-memory` or `invalid-argument`
 */
export async function loadLab(wasm) {
    const module = await (wasm === undefined ? compileBeside() : compile(wasm, 'wasm'));
    return instantiated(start, module).catch(notStarted('lab.wasm', wasm, 'wasm'));
}

/**
 * Parses a report of C++, and adds `complaint`, the deprecated name of `failure`.
 *
 * @param {string} text
 * @returns {any}
 */
export const reportFrom = (text) =>
    JSON.parse(text, (_, value) => {
        if (value?.failure !== undefined) value.complaint = value.failure;
        return value;
    });
