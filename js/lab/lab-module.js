/** The laboratory's C++ module, as wasm/src/bindings/lab/lab.cpp binds it. */

import { compile, instantiated, notStarted } from '../core/module.js';
import { compileBeside, start } from './load.js';

/** @typedef {import('./lab.js').MainModule} Lab */

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules @returns {Promise<Lab>} */
export async function loadLab(wasm) {
    const module = await (wasm === undefined ? compileBeside() : compile(wasm, 'wasm'));
    return instantiated(start, module).catch(notStarted('lab.wasm', wasm, 'wasm'));
}

/** @param {string} text a report, as C++ writes it @returns {any} with `complaint`, the deprecated name of `failure` */
export const reportFrom = (text) =>
    JSON.parse(text, (_, value) => {
        if (value?.failure !== undefined) value.complaint = value.failure;
        return value;
    });
