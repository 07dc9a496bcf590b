/**
 * The program of C++ threads, threads.wasm. The first call that needs it loads it, into a memory that has an
 * arena already.
 */

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

/** The running program. */
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
     * Runs hammer().
     *
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {ReturnType<typeof import('./hammer-options.js').checkHammer>} asked
     */
    hammer(core, asked) {
        return hammer(core, this.#exports, this.#workers, asked);
    }

    /**
     * Allocates memory for a segment. It is never freed.
     *
     * @param {number} bytes
     * @returns {number} the address; 0 if there is no memory
     */
    allocate(bytes) {
        return this.#exports._segment_alloc(bytes);
    }

    /**
     * Terminates the idle Workers of C++ threads. Otherwise they would wait for other threads, and keep the
     * memory.
     */
    endThreads() {
        this.#exports.PThread.terminateAllThreads();
    }
}

/**
 * Starts the program.
 *
 * @param {WebAssembly.Module} module threads.wasm
 * @param {WebAssembly.Memory} memory
 * @param {import('../core/module.js').WasmSource | undefined} wasm the source of the module; undefined for
 *   the package's
 * @returns {Promise<CppProgram>} rejects with `unavailable`, `out-of-memory` or `invalid-argument`
 */
export async function startProgram(module, memory, wasm) {
    const workers = new ThreadWorkers();
    const exports = await instantiated(start, module, { wasmMemory: memory, workers }).catch(
        notStarted('threads.wasm', wasm, 'wasm'),
    );
    return new CppProgram(/** @type {any} */ (exports), workers);
}
