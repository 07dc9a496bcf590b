import { invalid, TabacusError, TabacusRangeError } from '../common/errors.js';
import { hammerFields } from './arena-layout.js';
import { sleepAsync } from './waiting.js';

/**
 * The interval at which hammer() checks whether a Worker has failed. Such a failure does not notify the
 * sleeping thread.
 */
const failuresEvery_ms = 250;

/**
 * The exports of wasm/src/bindings/threads/hammer.cpp.
 *
 * @typedef {object} HammerOps
 * @property {(kind: number, at: number, threads: number, adds: number, amount: number,
 *   request: number) => number} _hammer_start
 * @property {(hammer: number) => void} _hammer_end
 */

/**
 * Runs hammer(), and resolves when all threads are done.
 *
 * @param {import('./thread-core.js').ThreadCore} core
 * @param {HammerOps} hammers
 * @param {import('./thread-workers.js').ThreadWorkers} workers
 * @param {ReturnType<typeof import('./hammer-options.js').checkHammer>} asked
 * @returns {Promise<void>}
 */
export async function hammer(core, hammers, workers, { kind, at, threads, adds, amount, lock }) {
    core.assertOpen();
    const request = lock === undefined ? 0 : lent(core, lock);
    const address = hammers._hammer_start(kind, at, threads, adds, amount, request);
    try {
        await finished(core, address, workers);
    } finally {
        // If one Worker has failed, other threads may still run, and use the hammer and the request: then
        // both are kept.
        if (Atomics.load(core.words, (address + hammerFields.running) >> 2) === 0) {
            hammers._hammer_end(address);
            if (request && !core.closed) core.ops.request_close(core.root, request);
        }
    }
}

/**
 * Returns the address of a request for a lock, for use by the C++ threads.
 *
 * @param {import('./thread-core.js').ThreadCore} core
 * @param {unknown} lock
 * @returns {number}
 * @throws {TabacusError} `invalid-argument`
 */
function lent(core, lock) {
    const request = Object(lock)._lend?.(core);
    if (request === undefined) throw invalid('lock', lock, 'a lock that tabLock() of this memory returned');
    return request;
}

/**
 * Waits until all threads are done. Throws if one of them has failed.
 *
 * @param {import('./thread-core.js').ThreadCore} core
 * @param {number} address
 * @param {import('./thread-workers.js').ThreadWorkers} workers
 */
async function finished({ words }, address, workers) {
    const at = (/** @type {number} */ field) => (address + field) >> 2;
    const { failures } = workers;
    for (let running; (running = Atomics.load(words, at(hammerFields.running))) !== 0;) {
        await sleepAsync(words, at(hammerFields.running), running, failuresEvery_ms);
        if (workers.failures > failures) throw workers.failure;
    }
    if (Atomics.load(words, at(hammerFields.missing)) !== 0) {
        if (workers.failure) throw workers.failure;
        throw new TabacusError('unavailable', 'the browser would not start that many threads');
    }
    if (Atomics.load(words, at(hammerFields.lockedOut)) !== 0) {
        throw new TabacusError(
            'unavailable',
            'the page refused a thread the lock over tabs; it stopped there',
        );
    }
    if (Atomics.load(words, at(hammerFields.refused)) !== 0) {
        throw new TabacusRangeError('an add would have left ±(2^53−1); the threads stopped there');
    }
}
