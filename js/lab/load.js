/** The laboratory's module, from beside the bundled modules; the build writes it, with its types. */

import { compileWasm } from '../core/compile-wasm.js';

export { default as start } from './lab.js';

/** The literal address is what bundlers follow. */
export const compileBeside = () => compileWasm(new URL('./lab.wasm', import.meta.url), 'lab.wasm');
