/** The laboratory, apart, so that only its own page loads it. */

// @ts-ignore: an address of the served page, which is no path that tsc could follow.
import * as built from './dist/web/tabacus-lab.js';

/** @type {typeof import('../js/lab.js')} */
export const { explore, faults, matrix, models, strategies } = built;
