/** The laboratory's module, from beside the bundled modules; the build writes it, with its types. */

export const loadGlue = () => import('./lab.js');

/** In Node the glue reads its wasm from the disk, for which there is nothing to be done beforehand. */
export const compileBeside = () => Promise.resolve(undefined);
