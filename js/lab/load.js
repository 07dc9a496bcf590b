/** The laboratory's module in the file beside the bundled modules. The build writes lab.js, and its types. */

import { compileWasm } from '../core/compile-wasm.js';

export { default as start } from './lab.js';

/** Compiles lab.wasm. The address is a literal, because bundlers look for this form. */
export const compileBeside = () => compileWasm(new URL('./lab.wasm', import.meta.url), 'lab.wasm');
