/** The laboratory's C++ module, as wasm/src/bindings/lab/lab.cpp binds it. */

import { compile, instantiated } from '../core/module.js';
import { TabacusError } from '../common/errors.js';
import { compileBeside, loadGlue } from './load.web.js';

/** @typedef {import('./lab.js').MainModule} Lab */

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules @returns {Promise<Lab>} */
export async function loadLab(wasm) {
    const given = wasm === undefined ? compileBeside().catch(() => undefined) : compile(wasm, 'wasm');
    const [glue, module] = await Promise.all([loadGlue().catch(unavailable), given]);
    const starting = module ? instantiated(glue.default, module) : glue.default({});
    return starting.catch(unavailable);
}

/** @param {unknown} cause @returns {never} */
function unavailable(cause) {
    const where = "they must be beside the package's modules (its wasm may be passed as `wasm`)";
    throw new TabacusError('unavailable', `lab.js or lab.wasm could not be loaded: ${where}`, { cause });
}

/** @param {string} text a report, as C++ writes it @returns {any} with `complaint`, the deprecated name of `failure` */
export const reportFrom = (text) =>
    JSON.parse(text, (_, value) => {
        if (value?.failure !== undefined) value.complaint = value.failure;
        return value;
    });
