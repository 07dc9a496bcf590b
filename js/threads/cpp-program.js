/** The program of C++ threads, threads.wasm: loaded by the first call that needs it, into memory that has an arena. */

import { instantiated, notStarted } from '../core/module.js';
import { hammer } from './cpp-threads.js';
import { ThreadWorkers } from './thread-workers.js';
// @ts-ignore: made by the build, and not there when types are checked
import start from './threads.js';

/**
 * The exports of wasm/src/sync/abi.cpp and of wasm/src/bindings/threads/hammer.cpp, and what Emscripten adds.
 *
 * @typedef {import('./cpp-threads.js').HammerOps & { _segment_alloc(bytes: number): number, PThread: { terminateAllThreads(): void } }} CppExports
 */

export class CppProgram {
    #exports;
    #workers;

    /**
     * @param {CppExports} exports
     * @param {ThreadWorkers} workers
     */
    constructor(exports, workers) {
        this.#exports = exports;
        this.#workers = workers;
    }

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {ReturnType<typeof import('./hammer-options.js').checkHammer>} asked
     */
    hammer(core, asked) {
        return hammer(core, this.#exports, this.#workers, asked);
    }

    /** Memory for a segment, which is never given back. @param {number} bytes @returns {number} 0 if there is none left */
    allocate(bytes) {
        return this.#exports._segment_alloc(bytes);
    }

    /** The Workers of C++ threads that are done wait for more of them, and would keep the memory. */
    endThreads() {
        this.#exports.PThread.terminateAllThreads();
    }
}

/**
 * @param {WebAssembly.Module} module threads.wasm
 * @param {WebAssembly.Memory} memory
 * @param {import('../core/module.js').WasmSource | undefined} wasm where the module is from, unless from the package
 * @returns {Promise<CppProgram>} rejects with `unavailable`, `out-of-memory` or `invalid-argument`
 */
export async function startProgram(module, memory, wasm) {
    const workers = new ThreadWorkers();
    const exports = await instantiated(start, module, { wasmMemory: memory, workers }).catch(
        notStarted('threads.wasm', wasm, 'wasm'),
    );
    return new CppProgram(/** @type {any} */ (exports), workers);
}
