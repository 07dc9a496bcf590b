/** The laboratory's C++ module, as wasm/src/bindings/lab/lab.cpp binds it. */

import { compile, instantiated } from '../core/module.js';
import { TabacusError } from '../common/errors.js';
import { compileBeside, start } from './load.js';

/** @typedef {import('./lab.js').MainModule} Lab */

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules @returns {Promise<Lab>} */
export async function loadLab(wasm) {
    const module = wasm === undefined ? compileBeside().catch(unavailable) : compile(wasm, 'wasm');
    return instantiated(start, await module).catch(unavailable);
}

/** @param {unknown} cause @returns {never} */
function unavailable(cause) {
    const where = "it must be beside the package's modules (or be passed as `wasm`)";
    throw new TabacusError('unavailable', `lab.wasm could not be loaded: ${where}`, { cause });
}

/** @param {string} text a report, as C++ writes it @returns {any} with `complaint`, the deprecated name of `failure` */
export const reportFrom = (text) =>
    JSON.parse(text, (_, value) => {
        if (value?.failure !== undefined) value.complaint = value.failure;
        return value;
    });
