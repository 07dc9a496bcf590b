/** A change to the glue that Emscripten made for threads.wasm, for what bundlers make of it. */

import { Failure } from './failure.js';

/** As Emscripten writes it, and as terser leaves it. */
const STARTING = /new Worker\((new URL\(["'](?:\.\/)?threads\.js["'],\s*import\.meta\.url\))/g;

/**
 * The glue starts its own file as the script of each thread, so that its module leads back to itself: `next build` with
 * Turbopack then never ends. The comment makes Turbopack leave that one expression alone, and other bundlers do not
 * know it. It is to be called after terser, which drops comments.
 *
 * @param {string} glue
 * @returns {string}
 */
export function markThreadWorker(glue) {
    const marked = glue.replace(STARTING, 'new Worker(/* turbopackIgnore: true */ $1');
    if (marked === glue) throw new Failure("Emscripten's glue does not start its workers as it did");
    return marked;
}
