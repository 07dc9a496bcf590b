/** Counts for some time: by the default strategy, or by a transaction of IndexedDB for each increment. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
import { done, openDatabase } from './database.js';
import { nextMacrotask } from './next-macrotask.js';

/** How many adds run in one turn of the event loop. Commits go on between turns. */
const BURST = 1000;

/** @type {import('tabacus').ReplicatedCounter} */
let counter;
/** @type {IDBDatabase} */
let database;

/** @returns {Promise<void>} resolves once the transaction is committed */
function addInTransaction() {
    return new Promise((resolve, reject) => {
        const transaction = database.transaction('rows', 'readwrite');
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        const rows = transaction.objectStore('rows');
        const read = rows.get('total');
        read.onsuccess = () => void rows.put((read.result ?? 0) + 1, 'total');
    });
}

async function start() {
    const tab = await open({ namespace: 'throughput' });
    counter = tab.counter('clicks');
    database = await openDatabase('bare throughput');
}

/** @param {number} duration_ms */
async function replicated(duration_ms) {
    const began_ms = performance.now();
    let attempted = 0;
    while (performance.now() - began_ms < duration_ms) {
        for (let i = 0; i < BURST; i++) counter.add(1);
        attempted += BURST;
        await nextMacrotask();
    }
    await counter.flush();
    return { attempted, took_ms: performance.now() - began_ms };
}

/** @param {number} duration_ms */
async function transactional(duration_ms) {
    const began_ms = performance.now();
    let attempted = 0;
    while (performance.now() - began_ms < duration_ms) {
        await addInTransaction();
        attempted++;
    }
    return { attempted, took_ms: performance.now() - began_ms };
}

const replicatedTotal = () => counter.read();
const transactionalTotal = () => done(database.transaction('rows').objectStore('rows').get('total'));

Object.assign(globalThis, {
    bench: { start, replicated, transactional, replicatedTotal, transactionalTotal },
});
