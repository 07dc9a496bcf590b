/** Starts C++ threads of bench/wasm/threads.cpp, and waits for them. */

// @ts-ignore: served by the benchmarks' server
import load from '/modules/bench.js';
import { PAGES } from './memory.js';

const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });

/** @type {{ contentionStart: (name: string, threads: number, duration_ms: number) => number, contentionEnd: (run: number) => number }} */
let module;

async function start() {
    module = await load({ wasmMemory: memory, noExitRuntime: true });
}

/**
 * @param {string} name
 * @param {number} threads
 * @param {number} duration_ms
 * @returns {Promise<number>} operations a second of all threads together
 */
async function run(name, threads, duration_ms) {
    const at = module.contentionStart(name, threads, duration_ms);
    const words = new Int32Array(/** @type {any} */ (memory.buffer));
    for (let running; (running = Atomics.load(words, at >> 2)) !== 0;) {
        await Atomics.waitAsync(words, at >> 2, running).value;
    }
    return module.contentionEnd(at);
}

Object.assign(globalThis, { bench: { start, run } });
