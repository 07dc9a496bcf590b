/** The emulator's module, from beside the bundled modules. */

/** @returns {Promise<{ default: (options: object) => Promise<any> }>} */
export function loadGlue() {
    // @ts-ignore: made by the build, and not there when types are checked
    return import('./emulator.js');
}

/** In Node the glue reads its wasm from the disk, for which there is nothing to be done beforehand. */
export const compileBeside = () => Promise.resolve(undefined);
