/** The laboratory's module, from beside the bundled modules; the build writes it, with its types. */

import { compileWasm } from '../core/compile-wasm.js';

export const loadGlue = () => import('./lab.js');

export const compileBeside = () => compileWasm(new URL('./lab.wasm', import.meta.url), 'lab.wasm');
