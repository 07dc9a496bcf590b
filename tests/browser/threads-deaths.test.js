/** Workers of real pages that are terminated at seeded moments, in the middle of operations on shared memory. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { amount, counterKinds, places, slots, sums, words } from '../programs/mortal.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { repetitions } from './harness/repetitions.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_270_102;

/** The most Workers that run at the same time. Chromium takes two seconds to terminate one that is busy. */
const BATCH_MAX = 10;

const PLANS = [
    { engine: ENGINES.chromium, deaths: repetitions(20, 200) },
    { engine: ENGINES.firefox, deaths: repetitions(20, 200) },
    { engine: ENGINES.webkit, deaths: repetitions(5, 50) },
];

/** @typedef {{ seed: number, operations: number, stays: import('../programs/mortal.js').Place }} How */

/**
 * Runs in the page: starts Workers, terminates all of them once they are ready, and reads the state that they leave.
 *
 * @param {How[]} batch
 * @param {{ words: typeof words, sums: typeof sums, counterKinds: typeof counterKinds, slots: number }} layout
 */
async function terminateWorkers(batch, layout) {
    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
    const tab = await open({ namespace: `batch ${batch[0]?.seed}` });
    const shared = await threads({ tab });
    const holder = new Int32Array(new SharedArrayBuffer(4));
    const parties = batch.length + 1;
    const start = async (/** @type {How} */ how, /** @type {number} */ round) => {
        const notes = new Int32Array(new SharedArrayBuffer(layout.words.end * 4));
        const own = new BigInt64Array(new SharedArrayBuffer(layout.sums.end * 8));
        Atomics.store(notes, layout.words.round, round);
        const worker = new Worker('/programs/mortal.web.js', { type: 'module' });
        let failure = '';
        worker.onerror = ({ message }) => (failure = message || 'the Worker could not be loaded');
        worker.postMessage({ handle: shared.handle, notes, holder, own, parties, patience_ms: 5, ...how });
        while (Atomics.load(notes, layout.words.ready) === 0) {
            if (failure) throw new Error(failure);
            await new Promise((turn) => setTimeout(turn, 1));
        }
        return { worker, notes, own };
    };
    /** Returns whether the owner before has died. @param {Promise<any>} locking */
    const lock = async (locking) => {
        const held = await locking;
        const { ownerDied } = held;
        held.markConsistent();
        held.unlock();
        return ownerDied;
    };
    const waitForDeath = async (/** @type {any} */ held) => {
        const notified = await shared.condition('deaths').waitAsync(held);
        held.unlock();
        return notified;
    };
    const all = await Promise.all(batch.map(start));
    const waiting = waitForDeath(await shared.mutex('of deaths').lockAsync());
    for (const { worker } of all) worker.terminate();
    const woken = await waiting;
    for (const index of batch.keys()) await lock(shared.mutex(`life ${index}`).lockAsync()); // then the Worker is dead
    const notified = [];
    for (const index of batch.keys()) {
        const mutex = shared.mutex(`mutex ${index}`);
        const rwLock = shared.rwLock(`lock ${index}`);
        notified.push({
            owner: [await lock(mutex.lockAsync()), await lock(mutex.lockAsync())],
            writer: [await lock(rwLock.lockExclusiveAsync()), await lock(rwLock.lockExclusiveAsync())],
            once: [
                await shared.callOnceAsync(`once ${index}`, () => {}),
                shared.callOnce(`once ${index}`, () => {}),
            ],
        });
    }
    await lock(shared.mutex('of the condition').lockAsync());
    await shared.barrier('step', parties).arriveAndWaitAsync();
    const permits = [
        shared.semaphore('permit', 1).available,
        shared.semaphore('slots', layout.slots).available,
    ];
    const value = async (/** @type {string} */ kind) =>
        BigInt(
            kind === 'tab'
                ? await shared.tabCounter('visits').read()
                : shared.counter(kind, { kind }).valueBigInt,
        );
    const rests = [];
    for (const kind of /** @type {const} */ ([...layout.counterKinds, 'tab'])) {
        let rest = await value(kind);
        const intents = all.map(({ own }) => own[layout.sums[`${kind}Intent`]] ?? 0n);
        for (const { own } of all) rest -= own[layout.sums[kind]] ?? 0n;
        rests.push([rest, ...intents].map(Number));
    }
    shared.close();
    await tab.close();
    const counts = (/** @type {'faults' | 'onceReturned'} */ word) =>
        all.map(({ notes }) => notes[layout.words[word]]);
    return {
        woken,
        notified,
        permits,
        rests,
        faults: counts('faults'),
        onceReturned: counts('onceReturned'),
    };
}

/** Whether a rest is the sum of some of the adds that were under way. @param {number[]} numbers */
function explained([rest = 0, ...intents]) {
    const least = intents.reduce((sum, intent) => sum + Math.min(intent, 0), 0);
    const most = intents.reduce((sum, intent) => sum + Math.max(intent, 0), 0);
    return least <= rest && rest <= most && (rest % amount === 0 || Math.abs(most) < amount);
}

/**
 * Checks the state that a batch of terminated Workers has left.
 *
 * @param {How[]} batch
 * @param {Awaited<ReturnType<typeof terminateWorkers>>} left
 */
function check(batch, { woken, notified, permits, rests, faults, onceReturned }) {
    assert.equal(woken, true, 'a death ended the wait of the page');
    for (const [index, { stays }] of batch.entries()) {
        const { owner, writer, once } = /** @type {(typeof notified)[number]} */ (notified[index]);
        if (stays === 'mutex') assert.equal(owner[0], true, 'the death of an owner was reported');
        if (stays === 'exclusive') assert.equal(writer[0], true, 'the death of a writer was reported');
        if (stays === 'once') assert.equal(once[0], true, 'the function was run again');
        if (onceReturned[index]) assert.equal(once[0], false, 'a function that has run is not run again');
        for (const [, second] of [owner, writer, once])
            assert.equal(second, false, 'a death was reported once');
    }
    assert.deepEqual(permits, [1, slots], 'all permits came back');
    assert.ok(rests.every(explained), JSON.stringify(rests));
    assert.deepEqual(new Set(faults), new Set([0]), 'what the locks guard was consistent');
}

for (const { engine, deaths } of PLANS) {
    describeIn([engine], 'Workers that are terminated while they use shared memory', () => {
        const browser = useBrowser(engine);

        it(`the deaths of ${deaths} workers leave nothing locked and lose nothing`, async () => {
            const random = seededRandom(SEED);
            const tab = await browser.openTab();
            for (let begin = 0; begin < deaths; begin += BATCH_MAX) {
                const batch = Array.from({ length: Math.min(BATCH_MAX, deaths - begin) }, (_, index) => ({
                    seed: begin + index + 1,
                    operations: 1 + random(50),
                    stays: places[(begin / BATCH_MAX + index) % BATCH_MAX] ?? '', // each place once, as there is one permit
                }));
                const layout = { words, sums, counterKinds, slots };
                const left = await tab.evaluate(terminateWorkers, batch, layout).catch((error) => {
                    throw new Error(`batch from ${begin}: ${JSON.stringify(batch)}`, { cause: error });
                });
                check(batch, left);
            }
            await closeAll([tab]);
        });
    });
}
