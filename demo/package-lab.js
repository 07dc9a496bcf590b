/** The laboratory. It is a module of its own, so that only the laboratory's page loads it. */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from './dist/web/tabacus-lab.js';

/** @type {typeof import('../js/lab.js')} */
export const { explore, faults, matrix, models, strategies } = built;
