/** One add on this thread: the same loop over three subjects, in turns. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
// @ts-ignore: served by the benchmarks' server
import { threads } from '/dist/web/tabacus-threads.js';

/** The commits of a round are over before the next: they run on this thread. */
const PAUSE_MS = 20;

const cells = new Int32Array(new SharedArrayBuffer(4));

/** Written out one by one: a loop that has seen two subjects is compiled for both. */
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
};

/** @param {{ warmups: number, rounds: number, adds: number }} options  @returns nanoseconds an add */
async function measure({ warmups, rounds, adds }) {
    const tab = await open({ namespace: 'add' });
    const shared = await threads();
    /** @type {Record<string, any>} */
    const subjects = { replicated: tab.counter('clicks'), shared: shared.counter('clicks') };
    /** @type {Record<string, number[]>} */
    const samples = { bare: [], replicated: [], shared: [] };
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
