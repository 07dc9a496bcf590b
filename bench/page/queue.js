/** Enqueues jobs and does them: by tab.queue(), by workbox-background-sync, or by p-queue over localStorage. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';

/** @type {import('tabacus').Tab} */
let tab;

/** @type {any} workbox-background-sync and p-queue, bundled */
let peers;

/** @param {string} namespace @param {boolean} [withPeers] */
async function start(namespace, withPeers = false) {
    tab = await open({ namespace });
    await tab.queue('warm').onIdle(); // its module is loaded
    if (!withPeers) return;
    peers = await import(/** @type {any} */ ('/peers/queue-peers.js'));
    // workbox reads `registration`, a global variable of service workers, but works without a registration.
    Object.assign(globalThis, { registration: {} });
}

/** @param {number} count @param {number} began_ms */
const perSecond = (count, began_ms) => (count * 1000) / (performance.now() - began_ms);

let last = 0;

/** Enqueues batches and awaits the receipts. Returns jobs a second. @param {number} batches @param {number} size */
async function enqueueBatches(batches, size) {
    const queue = tab.queue(`batches ${++last}`);
    const began_ms = performance.now();
    for (let batch = 0; batch < batches; batch++) {
        await Promise.all(Array.from({ length: size }, (_, i) => queue.enqueue({ page: i })));
    }
    return perSecond(batches * size, began_ms);
}

/** Enqueues jobs, each on the disk before the next. Returns jobs a second. @param {number} count */
async function enqueueStrict(count) {
    const queue = tab.queue(`strict ${++last}`, { durability: 'strict' });
    const began_ms = performance.now();
    for (let i = 0; i < count; i++) await queue.enqueue({ page: i });
    return perSecond(count, began_ms);
}

/**
 * Does what enqueueStrict() needs at least: for each job, a transaction that reads a row, and writes it and another
 * row to the disk. Returns transactions a second.
 *
 * @param {number} count
 */
async function writeStrict(count) {
    /** @type {IDBDatabase} */
    const connection = await new Promise((resolve, reject) => {
        const opening = indexedDB.open('bare');
        opening.onupgradeneeded = () => opening.result.createObjectStore('rows');
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
    });
    const began_ms = performance.now();
    for (let i = 0; i < count; i++) {
        await new Promise((resolve, reject) => {
            const transaction = connection.transaction('rows', 'readwrite', { durability: 'strict' });
            const rows = transaction.objectStore('rows');
            rows.get('head').onsuccess = () => {
                rows.put(`${i}`, 'head');
                rows.put(`${i}`, `row ${i}`);
                transaction.commit();
            };
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error);
        });
    }
    connection.close();
    return perSecond(count, began_ms);
}

/** Enqueues `count` jobs. @param {string} name @param {number} count */
async function fill(name, count) {
    const queue = tab.queue(name);
    for (let from = 0; from < count; from += 1_000) {
        await Promise.all(Array.from({ length: 1_000 }, (_, i) => queue.enqueue({ page: from + i })));
    }
}

/** Does `count` jobs. Returns jobs a second. @param {string} name @param {number} count */
async function consume(name, count) {
    let done = 0;
    const began_ms = performance.now();
    /** @type {() => void} */
    let stop = () => {};
    await new Promise((resolve) => {
        stop = tab.queue(name).handle(() => {
            if (++done === count) resolve(undefined);
        });
    });
    const rate = perSecond(count, began_ms);
    stop();
    return rate;
}

/**
 * Does jobs by workbox as its documentation shows it: an entry is removed from the queue, and then replayed. Returns
 * jobs a second.
 *
 * @param {number} count
 */
async function consumeWorkbox(count) {
    const queue = new peers.Queue(`workbox ${++last}`, { onSync: async () => {}, forceSyncFallback: true });
    for (let i = 0; i < count; i++) await queue.pushRequest({ request: new Request(`/${i}`) });
    const began_ms = performance.now();
    while (await queue.shiftRequest()) await Promise.resolve();
    return perSecond(count, began_ms);
}

/**
 * Does `count` of `queued` jobs by p-queue. The queued jobs are an array in localStorage. Returns jobs a second.
 *
 * @param {number} queued
 * @param {number} count
 */
async function consumePQueue(queued, count) {
    const key = `p-queue ${++last}`;
    /** @returns {unknown[]} */
    const read = () => JSON.parse(localStorage.getItem(key) ?? '[]');
    /** @param {unknown[]} jobs */
    const write = (jobs) => localStorage.setItem(key, JSON.stringify(jobs));
    write(Array.from({ length: queued }, (_, page) => ({ page })));
    const queue = new peers.PQueue({ concurrency: 1 });
    const began_ms = performance.now();
    for (let i = 0; i < count; i++) {
        void queue.add(async () => {
            const [, ...rest] = read();
            await Promise.resolve();
            write(rest);
        });
    }
    await queue.onIdle();
    localStorage.removeItem(key);
    return perSecond(count, began_ms);
}

/** The time of a clock that all tabs share. */
const now_ms = () => performance.timeOrigin + performance.now();

/**
 * When the job or the lock of each subject began, by now_ms().
 *
 * @type {{ ours?: Promise<number>, peer?: Promise<number> }}
 */
const taken = {};

/**
 * Begins a job that never ends, or holds a Web Lock; waits if need be.
 *
 * @param {'ours' | 'peer'} subject
 * @param {string} name
 */
function hold(subject, name) {
    taken[subject] = new Promise((resolve) => {
        const begin = () => {
            resolve(now_ms());
            return new Promise(() => {});
        };
        if (subject === 'ours') tab.queue(name).handle(begin);
        else void navigator.locks.request(name, begin);
    });
}

/** @param {string} name */
const ask = async (name) => void (await tab.queue(name).enqueue(name));

/** Resolves to the time at which what hold() asked for began. @param {'ours' | 'peer'} subject */
const held = (subject) => taken[subject];

Object.assign(globalThis, {
    bench: {
        start,
        enqueueBatches,
        enqueueStrict,
        writeStrict,
        fill,
        consume,
        consumeWorkbox,
        consumePQueue,
        hold,
        ask,
        held,
    },
});
