/** The emulator. It is a module of its own, so that only the page of the gallery loads it. */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from './dist/web/tabacus-emulator.js';

/** @type {typeof import('tabacus/emulator')} */
export const { explore } = built;
