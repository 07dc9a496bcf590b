/**
 * `tabacus/threads`: counters, mutexes, a storage and locks in memory that a page shares with its Workers and
 * with C++ threads.
 *
 * @example
 * import { threads } from 'tabacus/threads';
 * const shared = await threads();
 * const clicks = shared.counter('clicks');
 * worker.postMessage(shared.handle);  // there: attach(handle) of 'tabacus/worker'
 */

import { checkWasm, compile, notStarted } from './core/module.js';
import { startFailure } from './core/compile-wasm.js';
import { imported } from './common/import-failure.js';
import { Lazy } from './common/lazy.js';
import { checkHammer } from './threads/hammer-options.js';
import { requirePlatform } from './common/require-platform.js';
import { invalid, TabacusError } from './common/errors.js';
import { attachModule } from './threads/wasm/attach-wasm.js';
import { threadsModule } from './threads/wasm/threads-wasm.js';
import { checkOptions } from './common/check-arguments.js';
import { ThreadCore } from './threads/thread-core.js';
import { watchThreads } from './threads/exit/watch-threads.js';
import { watchWorkers } from './threads/exit/watch-workers.web.js';
import { arenaFields, arenaVersion, unwatchedClaim } from './threads/arena-layout.js';
import { refuseSegments } from './threads/segment/refuse-segments.js';
import { noModule, noPage } from './threads/segment/segment-layout.js';
import { SharedMemory } from './threads/shared-memory.js';
import { sleepAsync } from './threads/waiting.js';

export { TabacusError, TabacusRangeError } from './common/errors.js';

/** @typedef {import('./threads/shared-counter.js').SharedCounter} SharedCounter */
/** @typedef {import('./threads/shared-condition.js').SharedCondition} SharedCondition */
/** @typedef {import('./threads/shared-mutex.js').SharedMutex} SharedMutex */
/** @typedef {import('./threads/shared-mutex.js').Grant} Grant */
/** @typedef {import('./threads/tab-counter/shared-tab-counter.js').SharedTabCounter} SharedTabCounter */
/** @typedef {import('./threads/shared-rw-lock.js').SharedRwLock} SharedRwLock */
/** @typedef {import('./threads/shared-rw-lock.js').RwGrant} RwGrant */
/** @typedef {import('./threads/shared-semaphore.js').SharedSemaphore} SharedSemaphore */
/** @typedef {import('./threads/shared-barrier.js').SharedBarrier} SharedBarrier */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */
/** @typedef {import('./threads/tab-lock/shared-tab-lock.js').TabGrant} TabGrant */
/** @typedef {import('./threads/handle.js').SharedHandle} SharedHandle */
/** @typedef {import('./threads/arena-layout.js').CounterKind} CounterKind */

/** @typedef {import('./core/module.js').WasmSource} WasmSource */

/** The memory that `threads()` returns. Besides the objects of SharedMemory it has C++ threads. */
export class ThreadsMemory extends SharedMemory {
    #core;
    #program;
    #hammering = 0;

    /**
     * @param {ThreadCore} core
     * @param {SharedHandle} handle
     * @param {Lazy<import('./threads/cpp-program.js').CppProgram>} program
     * @param {import('./threads/shared-memory.js').TabClasses} [tabClasses] if the memory is made with a tab
     */
    constructor(core, handle, program, tabClasses) {
        super(core, handle, tabClasses);
        this.#core = core;
        this.#program = program;
    }

    /**
     * Closes this thread's attachment, as SharedMemory.close() does. For all threads it ends the locks over
     * tabs of this memory: held ones are lost, and requests are refused. What threads have added to counters over
     * tabs is gathered for the last time, and what they add later is not counted. The code that gathers is loaded
     * after the first `tabCounter()` of a thread. If it is not loaded yet, nothing is gathered; once a flush has
     * resolved, it is loaded.
     */
    close() {
        super.close();
        this.#endThreads();
    }

    /** Ends the Workers of C++ threads, once the attachment is closed and no hammer() runs. */
    #endThreads() {
        if (this.#core.closed && this.#hammering === 0) this.#program.value?.endThreads();
    }

    /**
     * Starts C++ threads that add to a counter as fast as they can, and resolves when all are done. The first
     * call loads threads.wasm.
     *
     * @param {SharedCounter | SharedTabCounter} counter a counter of this memory
     * @param {import('./threads/hammer-options.js').HammerOptions} options
     * @returns {Promise<void>} rejects with `invalid-argument`; with `unavailable` if threads.wasm cannot be
     *   loaded, a Worker cannot be started, or a lock is refused; with a TabacusRangeError if the counter
     *   would leave ±(2^53−1); with `out-of-memory` or `closed`
     */
    async hammer(counter, options) {
        const asked = checkHammer(this.#core, counter, options);
        this.#hammering++;
        try {
            const program = await this.#program.get();
            await program.hammer(this.#core, asked);
        } finally {
            this.#hammering--;
            this.#endThreads();
        }
    }
}

/** Checks the option `tab`. @param {unknown} tab */
function checkTab(tab) {
    if (typeof Object(tab)._acquire !== 'function') throw invalid('tab', tab, 'a tab that open() returned');
    return /** @type {import('./tab/tab.js').Tab} */ (tab);
}

/** Makes a unique identifier. crypto.randomUUID() is not used, because pages that are not secure lack it. */
const randomId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/**
 * Checks that the page is cross-origin isolated, which shared memory requires.
 *
 * @throws {TabacusError} `unavailable`
 */
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
 * The size of the memory, for which the module is linked: 32 MiB. It cannot grow, since views of it would
 * become invalid.
 */
const memoryPages = 512;

const makeMemory = async () =>
    new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });

/**
 * Loads threads.wasm and the JavaScript for it, and starts it.
 *
 * @param {WebAssembly.Memory} memory
 * @param {WasmSource | undefined} wasm
 */
async function loadProgram(memory, wasm) {
    const [module, { startProgram }] = await Promise.all([
        wasm === undefined ? threadsModule() : compile(wasm, 'wasm'),
        imported(import('./threads/cpp-program.js')),
    ]);
    return startProgram(module, memory, wasm);
}

/**
 * Makes the segments for a storage and for locks. The code for that is loaded when the first thread requests
 * one.
 *
 * @param {ThreadCore} core
 * @param {Lazy<import('./threads/segment/serve-segments.js').SegmentAllocator>} program
 */
async function serveSegments(core, program) {
    const wanted = (core.root + arenaFields.wanted) >> 2;
    for (let seen = 0; ;) {
        await sleepAsync(core.words, wanted, seen, Infinity, core.ending);
        if (core.closed) return refuseSegments(core, noPage);
        seen = Atomics.load(core.words, wanted);
        try {
            const [server, allocator] = await Promise.all([
                imported(import('./threads/segment/serve-segments.js')),
                program.get(),
            ]);
            return await server.serveSegments(core, allocator);
        } catch {
            // Threads that wait get an error. The next request of a thread makes the page try again.
            refuseSegments(core, noModule);
        }
    }
}

/**
 * Makes an arena in the memory, and attaches this thread to it.
 *
 * @param {WebAssembly.Memory} memory
 * @param {WebAssembly.Module} module attach.wasm
 */
async function makeArena(memory, module) {
    const { exports } = /** @type {any} */ (await WebAssembly.instantiate(module, { env: { memory } }));
    const root = exports.arena_make();
    return new ThreadCore(exports, memory, root, exports.agent_id(root), unwatchedClaim);
}

/**
 * Makes a memory of 32 MiB that threads can share. Each call makes another one. Requires a cross-origin
 * isolated page, or Node.
 *
 * @param {{ wasm?: WasmSource, attachWasm?: WasmSource, tab?: import('./tab/tab.js').Tab }} [options] `wasm`
 *   and `attachWasm`: the sources of threads.wasm and attach.wasm, if they are not beside the package's
 *   modules. `tab`: the tab through which `tabLock(name)` acquires locks, and into whose counters
 *   `tabCounter(name)` counts
 * @returns {Promise<ThreadsMemory>} rejects with `invalid-argument`; with `unavailable` if the page is not
 *   isolated or a file cannot be loaded; with `out-of-memory` if the platform does not give so much memory
 */
export async function threads(options = {}) {
    const given = checkOptions(options, ['wasm', 'attachWasm', 'tab']);
    const wasm = given.wasm === undefined ? undefined : checkWasm(given.wasm, 'wasm');
    const attachWasm = given.attachWasm === undefined ? undefined : checkWasm(given.attachWasm, 'attachWasm');
    const tab = given.tab === undefined ? undefined : checkTab(given.tab);
    requirePlatform('threads()', ['WebAssembly', 'Atomics', 'crypto']);
    assertIsolated();
    const compiling = attachWasm === undefined ? attachModule() : compile(attachWasm, 'attachWasm');
    compiling.catch(() => {}); // thrown below
    const memory = await makeMemory().catch((cause) => {
        throw startFailure({ what: 'threads()' }, cause);
    });
    const program = new Lazy(() => loadProgram(memory, wasm));
    // If the caller has passed `wasm`, it is loaded at once, so that this call rejects if it is wrong.
    const [module] = await Promise.all([compiling, wasm && program.get()]);
    const core = await makeArena(memory, module).catch(notStarted('attach.wasm', attachWasm, 'attachWasm'));
    watchWorkers();
    void serveSegments(core, program);
    const livenessPrefix = `tabacus/threads/${randomId()}`;
    void watchThreads(core, livenessPrefix);
    const handle = {
        memory,
        module,
        root: core.root,
        version: arenaVersion,
        livenessPrefix,
        tabLocks: tab !== undefined,
    };
    if (!tab) return new ThreadsMemory(core, handle, program);
    const { Broker, ...tabClasses } = await imported(import('./threads/tab-lock/tab-locks.js'));
    new Broker(core, tab, livenessPrefix).serve();
    return new ThreadsMemory(core, handle, program, tabClasses);
}
