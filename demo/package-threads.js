/** The part with shared memory, apart, so that only a page with isolation loads it. */

// @ts-ignore: an address of the served page, which is no path that tsc could follow.
import * as built from './dist/web/tabacus-threads.js';

/** @type {typeof import('../js/threads.js')} */
export const { threads } = built;
