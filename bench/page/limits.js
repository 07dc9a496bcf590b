/**
 * A tab that takes from a budget and from a sequence. The peers are an atomic add, and a transaction for each number.
 */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';

const cells = new Int32Array(new SharedArrayBuffer(4));
/** @type {import('tabacus').Budget} */
let budget;
/** @type {Record<string, import('tabacus').Sequence>} */
let sequences;

async function start() {
    const tab = await open({ namespace: 'limits' });
    budget = tab.budget('rights', { limit: 2 ** 40 });
    sequences = { blocks: tab.sequence('blocks'), each: tab.sequence('each', { gapless: true }) };
}

/** The loops. Each subject has its own, since an engine compiles a loop that has run on two subjects for both. */
const loops = {
    /** @param {number} times */
    bare(times) {
        let last = 0;
        for (let i = 0; i < times; i++) last = Atomics.add(cells, 0, 1);
        return last;
    },
    /** @param {number} times */
    rights(times) {
        let last;
        for (let i = 0; i < times; i++) last = budget.tryTake(1);
        return last;
    },
};

/**
 * @param {'bare' | 'rights'} subject
 * @param {number} times
 * @returns {Promise<number>} nanoseconds for each call
 */
async function measure(subject, times) {
    // After a burst this long, the tab mostly holds far more rights than the measured calls use.
    if (subject === 'rights') for (let i = 0; i < 40 * times; i++) await budget.tryTake(1);
    const began_ms = performance.now();
    await loops[subject](times);
    return ((performance.now() - began_ms) * 1e6) / times;
}

/**
 * @param {'blocks' | 'each'} subject
 * @param {number} times
 * @returns {Promise<number>} numbers a second
 */
async function numbers(subject, times) {
    const sequence = /** @type {import('tabacus').Sequence} */ (sequences[subject]);
    await sequence.next();
    const began_ms = performance.now();
    for (let i = 0; i < times; i++) await sequence.next();
    return (times * 1000) / (performance.now() - began_ms);
}

Object.assign(globalThis, { bench: { start, measure, numbers } });
