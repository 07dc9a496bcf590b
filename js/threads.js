/**
 * Counters and mutexes, and locks over tabs, in memory that the page shares with its workers and with C++ threads.
 *
 * @example
 * import { threads } from 'tabacus/threads';
 * const shared = await threads();
 * const clicks = shared.counter('clicks');
 * worker.postMessage(shared.handle);  // there: attach(handle) of 'tabacus/worker'
 */

import { checkWasm, compile, instantiated, notStarted } from './core/module.js';
import { startFailure } from './core/compile-wasm.js';
import { imported } from './common/import-failure.js';
import { requirePlatform } from './common/require-platform.js';
import { invalid, TabacusError } from './common/errors.js';
import { attachModule } from './threads/wasm/attach-wasm.js';
import { start, threadsModule } from './threads/wasm/threads-wasm.js';
import { checkOptions } from './common/check-arguments.js';
import { ThreadCore, opsFrom } from './threads/thread-core.js';
import { watchWorkers } from './threads/exit/watch-workers.web.js';
import { hammer } from './threads/cpp-threads.js';
import { isAttachModule } from './threads/handle.js';
import { arenaFields, arenaVersion } from './threads/arena-layout.js';
import { refuseSegments } from './threads/segment/refuse-segments.js';
import { noModule, noPage } from './threads/segment/segment-layout.js';
import { SharedMemory } from './threads/shared-memory.js';
import { ThreadWorkers } from './threads/thread-workers.js';
import { sleepAsync } from './threads/waiting.js';

export { TabacusError, TabacusRangeError } from './common/errors.js';

/** @typedef {import('./threads/shared-counter.js').SharedCounter} SharedCounter */
/** @typedef {import('./threads/shared-mutex.js').SharedMutex} SharedMutex */
/** @typedef {import('./threads/shared-mutex.js').Grant} Grant */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').TabGrant} TabGrant */
/** @typedef {import('./threads/handle.js').SharedHandle} SharedHandle */
/** @typedef {import('./threads/arena-layout.js').CounterKind} CounterKind */

/** @typedef {import('./core/module.js').WasmSource} WasmSource */

/** The memory that `threads()` made, with C++ threads beside the workers. */
export class ThreadsMemory extends SharedMemory {
    #core;
    #hammers;
    #broker;
    #workers;
    #hammering = 0;

    /**
     * @param {ThreadCore} core
     * @param {SharedHandle} handle
     * @param {import('./threads/cpp-threads.js').HammerOps & { PThread: { terminateAllThreads(): void } }} hammers
     * @param {ThreadWorkers} workers
     * @param {import('./threads/tab-lock/broker.js').Broker} [broker] of a memory that was made with a tab
     * @param {typeof import('./threads/tab-lock/shared-tab-lock.js').SharedTabLock} [TabLock] likewise
     */
    constructor(core, handle, hammers, workers, broker, TabLock) {
        super(core, handle, TabLock);
        this.#core = core;
        this.#hammers = hammers;
        this.#workers = workers;
        this.#broker = broker;
    }

    /** Closes this attachment. No thread gets a lock over tabs from this memory any more: what is held is lost. */
    close() {
        super.close();
        this.#broker?.close();
        this.#endThreads();
    }

    /** The Workers of C++ threads that are done wait for more of them, and would keep the memory. */
    #endThreads() {
        if (this.#core.closed && this.#hammering === 0) this.#hammers.PThread.terminateAllThreads();
    }

    /**
     * Starts C++ threads that add to the counter as fast as they can, and resolves when all are done.
     *
     * @param {SharedCounter} counter
     * @param {import('./threads/cpp-threads.js').HammerOptions} options
     * @returns {Promise<void>}
     */
    hammer(counter, options) {
        this.#hammering++;
        return hammer(this.#core, this.#hammers, this.#workers, counter, options).finally(() => {
            this.#hammering--;
            this.#endThreads();
        });
    }
}

/** @param {unknown} tab */
function checkTab(tab) {
    if (typeof Object(tab)._acquire !== 'function') throw invalid('tab', tab, 'what open() resolves to');
    return /** @type {import('./tab/tab.js').Tab} */ (tab);
}

/** A number that nobody else has: crypto.randomUUID() is missing on pages that are not secure. */
const randomId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

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

/** The 32 MiB that the module is linked for: it cannot grow, since views of shared memory go stale. */
const memoryPages = 512;

const makeMemory = async () =>
    new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });

/** @param {WasmSource | undefined} wasm */
const compileThreads = (wasm) => (wasm === undefined ? threadsModule() : compile(wasm, 'wasm'));

/**
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Memory} memory
 * @param {WasmSource | undefined} wasm where the module is from
 * @param {ThreadWorkers} workers
 */
const startProgram = (module, memory, wasm, workers) =>
    instantiated(start, module, { wasmMemory: memory, workers }).catch(
        notStarted('threads.wasm', wasm, 'wasm'),
    );

/**
 * Makes the segments for a storage and for locks when the first thread wants one.
 *
 * @param {ThreadCore} core
 * @param {import('./threads/segment/serve-segments.js').SegmentAllocator} allocator
 */
async function serveSegments(core, allocator) {
    const wanted = (core.root + arenaFields.wanted) >> 2;
    for (let seen = 0; ;) {
        await sleepAsync(core.words, wanted, seen, Infinity, core.ending);
        if (core.closed) return refuseSegments(core, noPage);
        seen = Atomics.load(core.words, wanted);
        try {
            const server = await import('./threads/segment/serve-segments.js');
            return await server.serveSegments(core, allocator);
        } catch {
            // Threads that wait get an error, and the next one that asks makes the page try again.
            refuseSegments(core, noModule);
        }
    }
}

/** @param {import('./core/module.js').WasmSource | undefined} source */
async function compileAttach(source) {
    if (source !== undefined) {
        const module = await compile(source, 'attachWasm');
        if (!isAttachModule(module)) throw invalid('attachWasm', source, 'the attach.wasm of this package');
        return module;
    }
    return attachModule();
}

/**
 * Makes a memory of 32 MiB that threads can share, and loads threads.wasm into it. Each call makes
 * another one. Needs a cross-origin isolated page, or Node.
 *
 * @param {{ wasm?: WasmSource, attachWasm?: WasmSource, tab?: import('./tab/tab.js').Tab }} [options] where
 *   threads.wasm and attach.wasm are, if not beside the package's modules; the tab through which
 *   `tabLock(name)` asks for locks
 * @returns {Promise<ThreadsMemory>}
 * @throws {TabacusError} `invalid-argument`; `unavailable`; `out-of-memory` where the platform gives no such memory
 */
export async function threads(options = {}) {
    const given = checkOptions(options, ['wasm', 'attachWasm', 'tab']);
    const wasm = given.wasm === undefined ? undefined : checkWasm(given.wasm, 'wasm');
    const attachWasm = given.attachWasm === undefined ? undefined : checkWasm(given.attachWasm, 'attachWasm');
    const tab = given.tab === undefined ? undefined : checkTab(given.tab);
    requirePlatform('threads()', ['WebAssembly', 'Atomics', 'crypto']);
    assertIsolated();
    const compiling = Promise.all([compileThreads(wasm), compileAttach(attachWasm)]);
    compiling.catch(() => {}); // thrown below
    const memory = await makeMemory().catch((cause) => {
        throw startFailure({ what: 'threads()' }, cause);
    });
    const workers = new ThreadWorkers();
    const [program, module] = await compiling;
    const glue = await startProgram(program, memory, wasm, workers);
    const root = glue._arena_root();
    const core = new ThreadCore(opsFrom(glue, '_'), memory, root);
    watchWorkers();
    void serveSegments(core, glue);
    const handle = { memory, module, root, version: arenaVersion };
    if (!tab) return new ThreadsMemory(core, handle, glue, workers);
    const { Broker, SharedTabLock } = await imported(import('./threads/tab-lock/tab-locks.js'));
    const livenessPrefix = `tabacus/threads/${randomId()}`;
    const broker = new Broker(core, glue, tab, livenessPrefix);
    return new ThreadsMemory(core, { ...handle, livenessPrefix }, glue, workers, broker, SharedTabLock);
}
