/** The wasm of a tab's programs, from beside the bundled modules. The literal addresses are what bundlers follow. */

import { compileFrom } from './fetch-wasm.web.js';

/** @param {import('./load-module.js').ModuleName} name */
function addressOf(name) {
    switch (name) {
        case 'single':
            return new URL('./single.wasm', import.meta.url);
        default:
            return new URL('./coordination.wasm', import.meta.url);
    }
}

/**
 * Begins to fetch before it returns.
 *
 * @param {import('./load-module.js').ModuleName} name
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileBeside = (name) => compileFrom(addressOf(name));
