import { compileWasm } from './compile-wasm.js';
import { moduleRegistry } from './module-registry.js';

/**
 * The glue of one module, from beside the bundled modules: a page loads what it uses, and no more. The
 * literal imports are what bundlers follow.
 *
 * @param {import('./load-module.js').ModuleName | 'threads'} name
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
export function loadGlue(name) {
    const given = moduleRegistry.get(`glue ${name}`);
    if (given) return Promise.resolve(given);
    switch (name) {
        case 'threads':
            // @ts-ignore: made by the build, and not there when types are checked
            return import('./threads.js');
        case 'single':
            // @ts-ignore: as above
            return import('./single.js');
        default:
            // @ts-ignore: as above
            return import('./coordination.js');
    }
}

/**
 * The wasm beside the bundled modules, fetched while its glue still is on its way.
 *
 * @param {import('./load-module.js').ModuleName | 'threads'} name
 * @returns {Promise<WebAssembly.Module>}
 */
export const compileBeside = (name) => compileWasm(wasmBeside(name), `${name}.wasm`);

/** @param {import('./load-module.js').ModuleName | 'threads'} name */
function wasmBeside(name) {
    switch (name) {
        case 'threads':
            return new URL('./threads.wasm', import.meta.url);
        case 'single':
            return new URL('./single.wasm', import.meta.url);
        default:
            return new URL('./coordination.wasm', import.meta.url);
    }
}
