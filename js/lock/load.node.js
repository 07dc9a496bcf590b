/** The module of the locks, from beside the bundled modules; see core/load.node.js. */

/** @returns {Promise<{ default: (options: object) => Promise<any> }>} */
export const loadGlue = () =>
    // @ts-ignore: made by the build, and not there when types are checked
    import('./locks.js');

/** @returns {Promise<WebAssembly.Module | undefined>} */
export const compileBeside = () => Promise.resolve(undefined);
