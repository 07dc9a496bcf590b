/**
 * The package, at the address where the server has its build. The demo uses it without a bundler. With a bundler, or
 * in Node, this would be `import { open } from 'tabacus'`.
 */

// @ts-ignore: an address of the served page, which tsc cannot resolve to a file.
import * as built from './dist/web/tabacus.js';

/** @type {typeof import('../js/index.js')} */
export const { open, TabacusError } = built;
