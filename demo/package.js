/**
 * The package, from the addresses where the server puts its build. This page is the use without a
 * bundler; with one, or in Node, this would be `import { open } from 'tabacus'`.
 */

// @ts-ignore: an address of the served page, which is no path that tsc could follow.
import * as built from './dist/web/tabacus.js';

/** @type {typeof import('../js/index.js')} */
export const { open, TabacusError } = built;
