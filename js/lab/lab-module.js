/** The laboratory's C++ module, as wasm/src/bindings/lab/lab.cpp binds it. */

import { start } from '../core/module.js';
import { compileBeside, loadGlue } from './load.web.js';

/** @typedef {import('./lab.js').MainModule} Lab */

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules @returns {Promise<Lab>} */
export function loadLab(wasm) {
    return start('lab.wasm', loadGlue(), compileBeside, { wasm, argument: 'wasm' });
}

/** @param {string} text a report, as C++ writes it @returns {any} with `complaint`, the deprecated name of `failure` */
export const reportFrom = (text) =>
    JSON.parse(text, (_, value) => {
        if (value?.failure !== undefined) value.complaint = value.failure;
        return value;
    });
