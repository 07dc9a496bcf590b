/** Workers of real pages that are terminated at seeded moments, in the middle of what they do in shared memory. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { amount, sums, words } from '../programs/mortal.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { repetitions } from './harness/repetitions.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_270_102;

/** Workers that run at the same time. Chromium takes two seconds to terminate one that is busy. */
const BATCH = 10;

const PLANS = [
    { engine: ENGINES.chromium, batches: repetitions(1, 20) },
    { engine: ENGINES.firefox, batches: repetitions(1, 20) },
    { engine: ENGINES.webkit, batches: repetitions(1, 5) },
];

/**
 * Runs in the page: starts Workers, terminates all of them once they are ready, and locks their mutexes.
 *
 * @param {{ seed: number, operations: number, stays: boolean }[]} batch
 * @param {{ words: typeof words, sums: typeof sums }} layout
 */
async function terminateWorkers(batch, layout) {
    const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
    const shared = await threads();
    const start = async (/** @type {(typeof batch)[number]} */ how, /** @type {number} */ round) => {
        const notes = new Int32Array(new SharedArrayBuffer(layout.words.end * 4));
        const own = new BigInt64Array(new SharedArrayBuffer(layout.sums.end * 8));
        Atomics.store(notes, layout.words.round, round);
        const worker = new Worker('/programs/mortal.web.js', { type: 'module' });
        let failure = '';
        worker.onerror = ({ message }) => (failure = message || 'the Worker could not be loaded');
        worker.postMessage({ handle: shared.handle, notes, own, ...how });
        while (Atomics.load(notes, layout.words.ready) === 0) {
            if (failure) throw new Error(failure);
            await new Promise((turn) => setTimeout(turn, 1));
        }
        return { worker, notes, own };
    };
    const lock = async (/** @type {string} */ name) => {
        const held = await shared.mutex(name).lockAsync();
        const { ownerDied } = held;
        held.markConsistent();
        held.unlock();
        return ownerDied;
    };
    const all = await Promise.all(batch.map(start));
    for (const { worker } of all) worker.terminate();
    for (const index of batch.keys()) await lock(`life ${index}`); // then the Worker is dead
    const told = [];
    for (const index of batch.keys()) told.push([await lock(`mutex ${index}`), await lock(`mutex ${index}`)]);
    await lock('of the condition');
    const rests = /** @type {('mutexed' | 'striped')[]} */ (['mutexed', 'striped']).map((kind) => {
        let rest = shared.counter(kind, { kind }).valueBigInt;
        const intents = all.map(({ own }) => own[layout.sums[`${kind}Intent`]] ?? 0n);
        for (const { own } of all) rest -= own[layout.sums[kind]] ?? 0n;
        return [rest, ...intents].map(Number);
    });
    shared.close();
    const faults = all.map(({ notes }) => notes[layout.words.faults]);
    return { told, rests, faults };
}

/** Whether a rest is the sum of some of the adds that were under way. @param {number[]} numbers */
function explained([rest = 0, ...intents]) {
    const least = intents.reduce((sum, intent) => sum + Math.min(intent, 0), 0);
    const most = intents.reduce((sum, intent) => sum + Math.max(intent, 0), 0);
    return least <= rest && rest <= most && rest % amount === 0;
}

for (const { engine, batches } of PLANS) {
    describeIn([engine], 'Workers that are terminated while they use shared memory', () => {
        const browser = useBrowser(engine);

        it(`the deaths of ${batches * BATCH} workers leave nothing locked and lose nothing`, async () => {
            const random = seededRandom(SEED);
            const tab = await browser.openTab();
            for (let number = 0; number < batches; number++) {
                const batch = Array.from({ length: BATCH }, (_, index) => ({
                    seed: number * BATCH + index,
                    operations: 1 + random(50),
                    stays: index % 2 === 0,
                }));
                const { told, rests, faults } = await tab.evaluate(terminateWorkers, batch, { words, sums });
                const first = told.map(([one]) => one);
                assert.deepEqual(
                    first.map((one, index) => one || index % 2 === 1),
                    first.map(() => true),
                    'the page was told of each death inside',
                );
                assert.ok(
                    told.every(([, other]) => other === false),
                    'it was told once',
                );
                assert.ok(rests.every(explained), `batch ${number}: ${JSON.stringify(rests)}`);
                assert.ok(faults.every((count) => count === 0));
            }
            await closeAll([tab]);
        });
    });
}
