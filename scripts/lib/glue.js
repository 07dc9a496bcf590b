/**
 * What Emscripten writes around a module, as the package needs it: it runs on one platform, and our code fetches and
 * compiles the wasm. What is for other platforms, and its own ways to fetch, become dead code, which is dropped.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { buildFolder } from './paths.js';

/** @typedef {'web' | 'node'} Platform */

/**
 * What the glue asks about where it runs. With that written in, terser drops what is for another platform: webpack,
 * esbuild and Vite refuse a file that would import Node's modules only in Node. Glue that fetches nothing and starts
 * no Worker is the same `anywhere`.
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

/** The modules by the builds that they come from. */
export const CORES = {
    threads: 'wasm-threads',
    lab: 'wasm-single',
    emulator: 'wasm-single',
};

/** @typedef {keyof typeof CORES} Core */

/** @param {Core} core */
export const gluePath = (core) => join(buildFolder, CORES[core], `${core}.js`);

/**
 * The glue where it is known on which platform it runs.
 * @param {string} glue
 * @param {Platform | 'anywhere'} platform
 */
export function forOne(glue, platform) {
    let known = glue;
    for (const [name, is] of Object.entries(FACTS[platform])) {
        known = known.replace(new RegExp(`\\bvar ${name}=[^;]*;`), `var ${name}=${is};`);
        const asked = new RegExp(`\\b${name}\\b`).test(glue);
        if (asked && !known.includes(`var ${name}=${is};`))
            throw new Failure(`Emscripten's glue does not say ${name} as it did`);
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
    if (changed === glue) throw new Failure(`Emscripten's glue has nothing like ${what}`);
    return changed;
}

/** Where the glue starts Workers, it calls js/threads/thread-workers.js. @param {string} glue */
function withWorkerHooks(glue) {
    // The literal of `new Worker(new URL(…))` stays: bundlers look for it.
    let known = replaced(glue, /\bworker=(new Worker\([^;]*\));/, 'worker=Module["workers"].start(()=>$1);');
    // An exception would pass through the frames of the program.
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

/** Without the glue's own fetch: a caller passes `instantiateWasm`. @param {string} glue */
function givenWasm(glue) {
    const known = replaced(glue, /wasmBinaryFile\?\?=findWasmBinary\(\);.*?return exports\}/, '}');
    return replaced(known, 'try{scriptDirectory=new URL(".",_scriptName).href}catch{}', '');
}

/**
 * The glue of threads.wasm tells the page from the Workers that it starts by a name, and starts itself. Here each of
 * both is a file of its own: a bundler that follows a Worker must not come back to the file that starts it.
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
 * The glue of a module as a page's bundle has it.
 *
 * @param {Core} core
 * @param {Platform} platform
 */
export function glueOf(core, platform) {
    const glue = givenWasm(readFileSync(gluePath(core), 'utf8'));
    if (core === 'threads') return withWorkerHooks(forThread(forOne(glue, platform), false));
    return forOne(glue, 'anywhere');
}

/** What runs in the Workers that threads.wasm starts. @param {Platform} platform */
export const threadsWorker = (platform) =>
    forThread(givenWasm(forOne(readFileSync(gluePath('threads'), 'utf8'), platform)), true);
