/** A tab that acquires one lock again and again, or hands it over: by tab.lock(), or by navigator.locks alone. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
// @ts-ignore: made by bench/lib/context.js
import { Mutex } from '/peers/async-mutex.js';
// @ts-ignore
import browserTabsLock from '/peers/browser-tabs-lock.js';
// @ts-ignore
import PQueue from '/peers/p-queue.js';

/** @typedef {'ours' | 'peer'} Subject */

/** @type {import('tabacus').Tab} */
let tab;

async function start() {
    tab = await open({ namespace: 'locks' });
    await runs.ours(() => {}); // its module is loaded
}

/** Starts as in a browser without Web Locks; the peer is browser-tabs-lock. */
async function startWithout() {
    Object.defineProperty(navigator, 'locks', { value: undefined });
    tab = await open({ namespace: 'without' });
    const exclusive = new /** @type {any} */ (browserTabsLock).default();
    runs.peer = async (use) => {
        await exclusive.acquireLock('contended');
        use();
        await exclusive.releaseLock('contended');
    };
    await runs.ours(() => {});
    if (tab.capabilities.exclusion !== 'lease')
        throw new Error(`the tab must lock by leases, but does by ${tab.capabilities.exclusion}`);
}

/** @type {Record<Subject, (use: () => unknown) => Promise<unknown>>} */
const runs = {
    ours: (use) => tab.lock('contended').run(use),
    peer: (use) => navigator.locks.request('contended', use),
};

/**
 * Makes the function that runs another one when it is its turn within this tab: by tab.lock(), async-mutex or p-queue.
 *
 * @type {Record<'ours' | 'mutex' | 'queue', () => (use: () => unknown) => Promise<unknown>>}
 */
const queues = {
    ours: () => (use) => tab.lock('deep').run(use),
    mutex: () => {
        const mutex = new Mutex();
        return (use) => mutex.runExclusive(use);
    },
    queue: () => {
        const queue = new PQueue({ concurrency: 1 });
        return (use) => queue.add(use);
    },
};

/**
 * Makes requests that all wait for a first one, and then lets that end.
 *
 * @param {keyof typeof queues} subject @param {number} waiters
 * @returns {Promise<number>} microseconds for each request
 */
async function deep(subject, waiters) {
    const run = queues[subject]();
    /** @type {(value?: unknown) => void} */
    let begin = () => {};
    /** @type {Promise<unknown>} */
    let first = Promise.resolve();
    await new Promise((granted) => {
        first = run(() => {
            granted(undefined);
            return new Promise((resolve) => (begin = resolve));
        });
    });
    const began_ms = performance.now();
    const all = [first];
    for (let i = 0; i < waiters; i++) all.push(run(() => {}));
    begin();
    await Promise.all(all);
    return ((performance.now() - began_ms) * 1000) / waiters;
}

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

/** The time of a clock that all tabs share. */
const now_ms = () => performance.timeOrigin + performance.now();

/** @type {(value?: unknown) => void} */
let end = () => {};

/**
 * Holds the lock until release().
 *
 * @param {Subject} subject
 * @returns {Promise<number>} when it was granted, by now_ms()
 */
const hold = (subject) =>
    new Promise((resolve, reject) => {
        runs[subject](() => {
            resolve(now_ms());
            return new Promise((done) => (end = done));
        }).catch(reject);
    });

/** Resolves once a request waits for the lock. @param {Subject} subject */
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

Object.assign(globalThis, { bench: { start, startWithout, repeat, deep, hold, awaited, release } });
