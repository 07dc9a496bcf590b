/**
 * Adapts the glue, the JavaScript that Emscripten writes around a module, to the package. A file of the package runs
 * on one platform, and our code fetches and compiles the wasm. So the glue's code for other platforms and its own
 * fetch become dead code, which the minifier drops.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { buildFolder } from './paths.js';

/** @typedef {'web' | 'node'} Platform */

/**
 * The variables by which the glue distinguishes platforms, with the values that are written into it. terser then drops
 * the code for other platforms. It must: webpack, esbuild and Vite refuse a file that imports modules of Node, even if
 * it does so only in Node. Glue that fetches nothing and starts no Worker is the same `anywhere`.
 * @type {Record<Platform | 'anywhere', Record<string, boolean>>}
 */
const FACTS = {
    web: { ENVIRONMENT_IS_NODE: false },
    node: {
        ENVIRONMENT_IS_NODE: true,
        ENVIRONMENT_IS_WEB: false,
        ENVIRONMENT_IS_WORKER: false,
    },
    anywhere: {
        ENVIRONMENT_IS_NODE: false,
        ENVIRONMENT_IS_WEB: false,
        ENVIRONMENT_IS_WORKER: false,
    },
};

/** The build that each module comes from. */
export const CORES = {
    threads: 'wasm-threads',
    lab: 'wasm-single',
    emulator: 'wasm-single',
};

/** @typedef {keyof typeof CORES} Core */

/** @param {Core} core */
export const gluePath = (core) => join(buildFolder, CORES[core], `${core}.js`);

/**
 * The glue for one platform.
 * @param {string} glue
 * @param {Platform | 'anywhere'} platform
 */
export function forOne(glue, platform) {
    let known = glue;
    for (const [name, is] of Object.entries(FACTS[platform])) {
        known = known.replace(new RegExp(`\\bvar ${name}=[^;]*;`), `var ${name}=${is};`);
        const asked = new RegExp(`\\b${name}\\b`).test(glue);
        if (asked && !known.includes(`var ${name}=${is};`))
            throw new Failure(
                `Emscripten's glue does not declare ${name} in the form that scripts/lib/glue.js expects`,
            );
    }
    return known;
}

/**
 * @param {string} glue
 * @param {string | RegExp} what
 * @param {string} by
 */
function replaced(glue, what, by) {
    const changed = glue.replace(what, by);
    if (changed === glue)
        throw new Failure(`Emscripten's glue lacks ${what}, which scripts/lib/glue.js replaces`);
    return changed;
}

/** The glue that calls js/threads/thread-workers.js wherever it starts a Worker. @param {string} glue */
function withWorkerHooks(glue) {
    // The literal of `new Worker(new URL(…))` stays: bundlers look for it.
    let known = replaced(glue, /\bworker=(new Worker\([^;]*\));/, 'worker=Module["workers"].start(()=>$1);');
    // An exception would unwind the frames of the program.
    known = replaced(
        known,
        /(var newWorker=PThread\.allocateUnusedWorker\(\);PThread\.loadWasmModuleToWorker\(newWorker\))/,
        'try{$1}catch(e){Module["workers"].failed(e);return}',
    );
    return replaced(
        known,
        /worker\.onerror=e=>\{[^}]*\$\{[^]*?;throw e\}/,
        'worker.onerror=e=>Module["workers"].failed(e)',
    );
}

/** The glue without its own fetch. Requires that its caller passes `instantiateWasm`. @param {string} glue */
function givenWasm(glue) {
    const known = replaced(glue, /wasmBinaryFile\?\?=findWasmBinary\(\);.*?return exports\}/, '}');
    return replaced(known, 'try{scriptDirectory=new URL(".",_scriptName).href}catch{}', '');
}

/**
 * The glue of threads.wasm for the page or for its Workers. As Emscripten writes it, it is one file that starts
 * itself as a Worker and looks at the Worker's name to know where it runs. Here it becomes two files: a bundler that
 * follows a Worker must not come back to the file that starts it.
 *
 * @param {string} glue
 * @param {boolean} worker
 */
function forThread(glue, worker) {
    let known = replaced(
        glue,
        /\bvar ENVIRONMENT_IS_PTHREAD=[^;]*;/,
        `var ENVIRONMENT_IS_PTHREAD=${worker};`,
    );
    known = replaced(known, /;ENVIRONMENT_IS_PTHREAD=[^}]*\}/, '}');
    known = replaced(known, /export default Module;var isPthread=.*$/s, '');
    if (!worker)
        return `${replaced(known, 'new URL("threads.js",', 'new URL("./threads-worker.js",')}export default Module;`;
    // A Worker has the page start its threads.
    return `${replaced(known, /new Worker\(new URL\("threads\.js",[^)]*\),\{[^}]*\}\)/, 'undefined')}Module();`;
}

/**
 * The glue of a module for the bundle of a page.
 *
 * @param {Core} core
 * @param {Platform} platform
 */
export function glueOf(core, platform) {
    const glue = givenWasm(readFileSync(gluePath(core), 'utf8'));
    if (core === 'threads') return withWorkerHooks(forThread(forOne(glue, platform), false));
    return forOne(glue, 'anywhere');
}

/** The script of the Workers that threads.wasm starts. @param {Platform} platform */
export const threadsWorker = (platform) =>
    forThread(givenWasm(forOne(readFileSync(gluePath('threads'), 'utf8'), platform)), true);
