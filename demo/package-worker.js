/** The part that a Worker loads. */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from './dist/web/tabacus-worker.js';

/** @type {typeof import('../js/worker.js')} */
export const { attach } = built;
