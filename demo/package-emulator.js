/** The emulator, apart, so that only the gallery's page loads it. */

// @ts-ignore: an address of the served page, which is no path that tsc could follow.
import * as built from './dist/web/tabacus-emulator.js';

/** @type {typeof import('tabacus/emulator')} */
export const { explore } = built;
