/**
 * Counters and mutexes in memory that the page shares with its workers and with C++ threads.
 *
 * @example
 * import { threads } from 'tabacus/threads';
 * const shared = await threads();
 * const clicks = shared.counter('clicks');
 * worker.postMessage(shared.handle);  // there: attach(handle) of 'tabacus/worker'
 */

import { loadGlue } from './core/load.web.js';
import { invalid, TabacusError } from './errors.js';
import { attachModule } from './shared/attach-wasm.web.js';
import { checkOptions } from './shared/check.js';
import { Core, opsFrom } from './shared/core.js';
import { hammer } from './shared/hammer.js';
import { arenaVersion } from './shared/layout.js';
import { SharedMemory } from './shared/shared.js';

export { TabacusError, TabacusRangeError } from './errors.js';

/** @typedef {import('./shared/counter.js').SharedCounter} SharedCounter */
/** @typedef {import('./shared/mutex.js').SharedMutex} SharedMutex */
/** @typedef {import('./shared/mutex.js').Grant} Grant */
/** @typedef {import('./shared/handle.js').SharedHandle} SharedHandle */
/** @typedef {import('./shared/layout.js').CounterKind} CounterKind */

/** Where a module is to be had: an address, its bytes, or itself. @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource */

/** The memory that `threads()` made, with C++ threads beside the workers. */
export class ThreadsMemory extends SharedMemory {
    #core;
    #hammers;

    /**
     * @param {Core} core
     * @param {SharedHandle} handle
     * @param {import('./shared/hammer.js').Hammers} hammers
     */
    constructor(core, handle, hammers) {
        super(core, handle);
        this.#core = core;
        this.#hammers = hammers;
    }

    /**
     * Starts C++ threads that add to the counter as fast as they can, and resolves when all are done.
     *
     * @param {SharedCounter} counter
     * @param {import('./shared/hammer.js').HammerOptions} options
     * @returns {Promise<void>}
     */
    hammer(counter, options) {
        return hammer(this.#core, this.#hammers, counter, options);
    }
}

/** Memory shared by threads takes cross-origin isolation: `unavailable` without it. */
function assertIsolated() {
    if (typeof SharedArrayBuffer === 'undefined' || globalThis.crossOriginIsolated === false) {
        throw new TabacusError(
            'unavailable',
            'shared memory needs a cross-origin isolated page: send the headers ' +
                'Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp',
        );
    }
}

/**
 * @param {string} argument
 * @param {unknown} source
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(argument, source) {
    if (source instanceof WebAssembly.Module) return source;
    try {
        if (typeof source === 'string' || source instanceof URL) {
            return await WebAssembly.compileStreaming(fetch(source));
        }
        return await WebAssembly.compile(/** @type {BufferSource} */ (source));
    } catch (cause) {
        throw Object.assign(invalid(argument, source, 'the address, the bytes or the module of its wasm'), { cause });
    }
}

/**
 * What the glue is to be started with. Without `module` it finds its own wasm beside itself.
 *
 * @param {WebAssembly.Memory} memory
 * @param {WebAssembly.Module | undefined} module
 */
const glueOptions = (memory, module) => ({
    wasmMemory: memory,
    ...(module && {
        /**
         * @param {WebAssembly.Imports} imports
         * @param {(instance: WebAssembly.Instance, module: WebAssembly.Module) => void} receive
         */
        instantiateWasm(imports, receive) {
            void WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
        },
    }),
});

/** The 16 MiB that the module is linked for: it cannot grow, since views of shared memory go stale. */
const memoryPages = 256;

/**
 * @param {unknown} wasm
 * @param {WebAssembly.Memory} memory
 */
async function startCore(wasm, memory) {
    const module = wasm === undefined ? undefined : await compile('wasm', wasm);
    const { default: start } = await loadGlue('threads');
    return start(glueOptions(memory, module));
}

/** @param {unknown} source */
async function compileAttach(source) {
    if (source !== undefined) return compile('attachWasm', source);
    try {
        return await attachModule();
    } catch (cause) {
        throw new TabacusError(
            'unavailable',
            'attach.wasm is not beside the package’s modules: copy it there, or pass attachWasm',
            { cause },
        );
    }
}

/**
 * Makes a memory of 16 MiB that threads can share, and loads the C++ core into it. Each call makes
 * another one. Needs a cross-origin isolated page, or Node.
 *
 * @param {{ wasm?: WasmSource, attachWasm?: WasmSource }} [options] where threads.wasm and attach.wasm
 *   are, if not beside the package's modules
 * @returns {Promise<ThreadsMemory>}
 */
export async function threads(options = {}) {
    const { wasm, attachWasm } = checkOptions(options, ['wasm', 'attachWasm']);
    assertIsolated();
    const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
    const [glue, module] = await Promise.all([startCore(wasm, memory), compileAttach(attachWasm)]);
    const root = glue._arena_root();
    const core = new Core(opsFrom(glue, '_'), memory, root);
    return new ThreadsMemory(core, { memory, module, root, version: arenaVersion }, glue);
}
