/** The part for a Worker of one's own. */

// @ts-ignore: an address of the served page, which is no path that tsc could follow.
import * as built from './dist/web/tabacus-worker.js';

/** @type {typeof import('../js/worker.js')} */
export const { attach } = built;
