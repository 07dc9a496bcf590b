/** Times one add on this thread: the same loop over four subjects, one after the other in each round. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
// @ts-ignore: served by the benchmarks' server
import { threads } from '/dist/web/tabacus-threads.js';

/** The pause between two rounds, in which the commits of a round end, since they run on this thread. */
const PAUSE_MS = 20;

const cells = new Int32Array(new SharedArrayBuffer(4));

/** The loops. Each subject has its own, since an engine compiles a loop that has run on two subjects for both. */
const loops = {
    /** @param {number} adds */
    bare(adds) {
        let last = 0;
        for (let i = 0; i < adds; i++) last = Atomics.add(cells, 0, 1);
        return last;
    },
    /** @param {number} adds @param {import('tabacus').ReplicatedCounter} counter */
    replicated(adds, counter) {
        let last = 0;
        for (let i = 0; i < adds; i++) last = counter.add(1);
        return last;
    },
    /** @param {number} adds @param {import('tabacus/threads').SharedCounter} counter */
    shared(adds, counter) {
        let last = 0;
        for (let i = 0; i < adds; i++) last = counter.add(1);
        return last;
    },
    /** @param {number} adds @param {import('tabacus/threads').SharedTabCounter} counter */
    overTabs(adds, counter) {
        for (let i = 0; i < adds; i++) counter.add(1);
        return counter.value;
    },
};

/**
 * @param {{ warmups: number, rounds: number, adds: number }} options
 * @returns nanoseconds for each add, by subject
 */
async function measure({ warmups, rounds, adds }) {
    const tab = await open({ namespace: 'add' });
    const shared = await threads({ tab });
    /** @type {Record<string, any>} */
    const subjects = {
        replicated: tab.counter('clicks'),
        shared: shared.counter('clicks'),
        overTabs: shared.tabCounter('visits'),
    };
    await subjects.overTabs.flushAsync(); // loads the piece that gathers
    /** @type {Record<string, number[]>} */
    const samples = { bare: [], replicated: [], shared: [], overTabs: [] };
    for (let round = -warmups; round < rounds; round++) {
        for (const [name, loop] of Object.entries(loops)) {
            const began_ms = performance.now();
            loop(adds, subjects[name]);
            const each_ns = ((performance.now() - began_ms) * 1e6) / adds;
            if (round >= 0) samples[name]?.push(each_ns);
            await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
    }
    await tab.close();
    return samples;
}

Object.assign(globalThis, { bench: { measure } });
