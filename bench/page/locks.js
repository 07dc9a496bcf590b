/** A tab that takes one lock again and again, or hands it over: tab.lock(), beside bare navigator.locks. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';

/** @typedef {'ours' | 'peer'} Subject */

/** @type {import('tabacus').Tab} */
let tab;

async function start() {
    tab = await open({ namespace: 'locks' });
    await runs.ours(() => {}); // its module is loaded
}

/** @type {Record<Subject, (use: () => unknown) => Promise<unknown>>} */
const runs = {
    ours: (use) => tab.lock('contended').run(use),
    peer: (use) => navigator.locks.request('contended', use),
};

/** @param {Subject} subject @param {number} duration_ms @returns {Promise<number>} acquisitions a second */
async function repeat(subject, duration_ms) {
    const run = runs[subject];
    const began_ms = performance.now();
    let times = 0;
    do {
        await run(() => {});
        times++;
    } while (performance.now() - began_ms < duration_ms);
    return (times * 1000) / (performance.now() - began_ms);
}

/** Comparable with another tab's. */
const now_ms = () => performance.timeOrigin + performance.now();

/** @type {(value?: unknown) => void} */
let end = () => {};

/** Resolves when the lock is held; release() ends that. @param {Subject} subject @returns {Promise<number>} when */
const hold = (subject) =>
    new Promise((resolve, reject) => {
        runs[subject](() => {
            resolve(now_ms());
            return new Promise((done) => (end = done));
        }).catch(reject);
    });

/** Resolves when somebody waits for the lock. @param {Subject} subject */
async function awaited(subject) {
    for (;;) {
        const waits =
            subject === 'ours'
                ? (await tab.lock('contended').query()).some(({ state }) => state === 'waiting')
                : ((await navigator.locks.query()).pending ?? []).some(({ name }) => name === 'contended');
        if (waits) return;
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
}

function release() {
    const at_ms = now_ms();
    end();
    return at_ms;
}

Object.assign(globalThis, { bench: { start, repeat, hold, awaited, release } });
