/** The usual example of articles on Atomics: four Workers make 100,000 increments each, with four kinds of counter. */

import { threads } from './package-threads.js';

export const WORKERS = 4;
export const ADDS = 100_000;

export const KINDS = Object.freeze(/** @type {const} */ (['atomic', 'mutexed', 'striped', 'unsynchronised']));

/** @typedef {(typeof KINDS)[number]} Kind */
/** @typedef {{ kind: Kind, actual: number, elapsed_ms: number }} Result */

/**
 * @typedef {object} Crew
 * @property {(kind: Kind, amount: number) => Promise<Result>} workers  adds in the Workers of the page
 * @property {(kind: Kind, amount: number) => Promise<Result>} cpp  adds in C++ threads
 */

/** @returns {Promise<Crew>} */
export async function hireCrew() {
    const shared = await threads();
    const crew = Array.from({ length: WORKERS }, () => startWorker());
    await Promise.all(crew.map((worker) => request(worker, { handle: shared.handle })));

    /** @param {Kind} kind @param {() => Promise<unknown>} work */
    const timed = async (kind, work) => {
        const start_ms = performance.now();
        await work();
        const elapsed_ms = performance.now() - start_ms;
        return { kind, actual: shared.counter(kind, { kind }).value, elapsed_ms };
    };
    return {
        workers: (kind, amount) => {
            shared.counter(kind, { kind });
            const barrier = new Int32Array(new SharedArrayBuffer(4)).fill(WORKERS);
            const work = { counter: kind, adds: ADDS, amount, barrier };
            return timed(kind, () => Promise.all(crew.map((worker) => request(worker, work))));
        },
        cpp: (kind, amount) => {
            const work = { threads: WORKERS, adds: ADDS, amount };
            return timed(kind, () => shared.hammer(shared.counter(kind, { kind }), work));
        },
    };
}

/** Starts a Worker. It answers each message once, in the order of the messages. */
function startWorker() {
    return new Worker(new URL('./threads-worker.js', import.meta.url), { type: 'module' });
}

/**
 * @param {Worker} worker
 * @param {object} message
 * @returns {Promise<void>} resolves once the Worker has answered
 */
function request(worker, message) {
    return new Promise((resolve, reject) => {
        worker.onmessage = () => resolve();
        worker.onerror = ({ message: reason }) => reject(new Error(reason || 'A worker did not start'));
        worker.postMessage(message);
    });
}
