/** The laboratory's module, from beside the bundled modules; the build writes it, with its types. */

import { compileFrom } from '../core/fetch-wasm.web.js';

export { default as start } from './lab.js';

/** The literal address is what bundlers follow. */
export const compileBeside = () => compileFrom(new URL('./lab.wasm', import.meta.url));
