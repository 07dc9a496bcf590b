/** As load.web.js, for places that have no `import()`: every module's glue is there from the start. */

import { TabacusError } from '../errors.js';
// @ts-ignore: made by the build, and not there when types are checked
import catalogue from './catalogue.js';
// @ts-ignore: as above
import locks from './locks.js';
// @ts-ignore: as above
import queue from './queue.js';
// @ts-ignore: as above
import single from './single.js';

export { compileBeside, fetchBytes } from './load.web.js';

/** @typedef {{ default: (options: object) => Promise<any> }} LoadedGlue */

/** @type {Record<Exclude<import('./tab-core.js').ModuleName, 'threads'>, (options: object) => Promise<any>>} */
const glues = { single, catalogue, locks, queue };

/**
 * @param {import('./tab-core.js').ModuleName} name
 * @returns {Promise<LoadedGlue>}
 */
export async function loadGlue(name) {
    if (name === 'threads') throw new TabacusError('unavailable', 'there are no threads in a service worker');
    return { default: glues[name] };
}
