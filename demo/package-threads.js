/** The part with shared memory. It is a module of its own, so that only an isolated page loads it. */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from './dist/web/tabacus-threads.js';

/** @type {typeof import('../js/threads.js')} */
export const { threads } = built;
