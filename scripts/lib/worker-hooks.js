/** Where Emscripten's glue starts Workers, it calls js/threads/thread-workers.js. */

import { Failure } from './failure.js';

/** What stands in the glue, and what is written in its place. @type {readonly [RegExp, string][]} */
const HOOKS = [
    // The literal of `new Worker(new URL(…))` stays: bundlers look for it.
    [/\bworker=(new Worker\([^;]*\));/, 'worker=Module["workers"].start(()=>$1);'],
    // An exception would pass through the frames of the program.
    [
        /(var newWorker=PThread\.allocateUnusedWorker\(\);PThread\.loadWasmModuleToWorker\(newWorker\))/,
        'try{$1}catch(e){Module["workers"].failed(e);return}',
    ],
    [/worker\.onerror=e=>\{[^}]*\$\{[^]*?;throw e\}/, 'worker.onerror=e=>Module["workers"].failed(e)'],
];

/**
 * @param {string} core
 * @param {string} glue
 * @returns {string} the glue of threads.wasm with the calls in it; any other as it is
 */
export function withWorkerHooks(core, glue) {
    if (core !== 'threads') return glue;
    return HOOKS.reduce((text, [pattern, hook]) => {
        if (!pattern.test(text))
            throw new Failure(
                `Emscripten's glue of ${core} has no ${pattern}, as it had: adapt worker-hooks.js`,
            );
        return text.replace(pattern, hook);
    }, glue);
}
