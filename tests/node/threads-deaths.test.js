/** Workers of Node that are terminated at seeded moments, in the middle of what they do in shared memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { threads } from 'tabacus/threads';
import { repetitions } from '../browser/harness/repetitions.js';
import { seededRandom } from '../browser/page/seeded-random.js';
import { mutexesMax, sums, words } from '../programs/mortal.js';

const SEED = 20_270_101;
const DEATHS = repetitions(100, 1_000);

/** The deaths of owners of the mutex of this round: counted when the page reports a death. */
let diedInside = 0;

/** Makes a memory whose reports of deaths are counted if the dead thread holds the mutex of that name. */
async function watchedMemory() {
    const { instantiate } = WebAssembly;
    /** The address of the mutex that was tried last. */
    let mutex = 0;
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {WebAssembly.Module} */ module, /** @type {any} */ imports) => {
            const { exports } = await instantiate(module, imports);
            const real = /** @type {any} */ (exports);
            const view = new Int32Array(imports.env.memory.buffer);
            return {
                exports: {
                    ...exports,
                    mutex_try_lock: (/** @type {number} */ at, /** @type {number} */ self) => {
                        mutex = at;
                        return real.mutex_try_lock(at, self);
                    },
                    agent_died: (/** @type {number} */ root, /** @type {number} */ dead) => {
                        if (Number(view[mutex >> 2]) >>> 2 === dead) diedInside++;
                        real.agent_died(root, dead);
                    },
                },
            };
        }
    );
    try {
        return await threads();
    } finally {
        WebAssembly.instantiate = instantiate;
    }
}

/** @param {Int32Array} notes @param {number} word */
async function reached(notes, word) {
    while (Atomics.load(notes, word) === 0) {
        await /** @type {any} */ (Atomics).waitAsync(notes, word, 0, 10_000).value;
    }
    Atomics.store(notes, word, 0);
}

/**
 * @param {import('tabacus/threads').ThreadsMemory} shared
 * @param {Int32Array} notes
 * @param {{ seed: number, operations: number, stays: boolean }} how
 */
function startMortal(shared, notes, how) {
    const own = new BigInt64Array(new SharedArrayBuffer(sums.end * 8));
    const workerData = { handle: shared.handle, notes, own, ...how };
    const worker = new Worker(new URL('../programs/mortal.node.js', import.meta.url), { workerData });
    return { worker, own };
}

test(`${DEATHS} workers are terminated in the middle of their work: nothing hangs, and nothing is lost`, async () => {
    const shared = await watchedMemory();
    const notes = new Int32Array(new SharedArrayBuffer(words.end * 4));
    const random = seededRandom(SEED);
    const survivor = startMortal(shared, notes, { seed: SEED, operations: 0, stays: false });
    const totals = { mutexed: 0n, striped: 0n };
    let inside = 0;
    for (let round = 0; round < DEATHS; round++) {
        Atomics.store(notes, words.round, round);
        const mutex = shared.mutex(`mutex ${round % mutexesMax}`);
        if (mutex.tryLock()) mutex.unlock(); // whose deaths are counted from here on
        diedInside = 0;
        Atomics.store(notes, words.told, 0);
        signal(notes, words.pause, 0);
        const how = { seed: round, operations: 1 + random(200), stays: random(2) === 0 };
        const mortal = startMortal(shared, notes, how);
        await reached(notes, words.ready);
        await mortal.worker.terminate();
        signal(notes, words.pause, 1);
        await reached(notes, words.paused);
        assert.equal(notes[words.told], diedInside, `round ${round}`);
        inside += diedInside;
        for (const kind of /** @type {const} */ (['mutexed', 'striped'])) {
            const value = shared.counter(kind, { kind }).valueBigInt;
            const completed = totals[kind] + at(mortal.own, sums[kind]);
            const last = at(mortal.own, sums[`${kind}Intent`]);
            const rest = value - completed - at(survivor.own, sums[kind]);
            assert.ok(rest === 0n || rest === last, `round ${round}, ${kind}: ${rest} and ${last}`);
            totals[kind] = completed + rest;
        }
    }
    await survivor.worker.terminate();
    shared.close();
    assert.equal(notes[words.faults], 0, 'what a mutex guards was consistent');
    assert.ok(inside > DEATHS / 4, `${inside} workers died inside`);
});

/** @param {BigInt64Array} array @param {number} index */
const at = (array, index) => /** @type {bigint} */ (array[index]);

/** @param {Int32Array} notes @param {number} word @param {number} value */
function signal(notes, word, value) {
    Atomics.store(notes, word, value);
    Atomics.notify(notes, word);
}
