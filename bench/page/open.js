/** Times, in a fresh page, open() and the first add; or the steps of the platform that they need at least. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
import { done, openDatabase } from './database.js';

async function ours() {
    const began_ms = performance.now();
    const tab = await open({ namespace: 'open' });
    const counter = tab.counter('visits');
    counter.add(1);
    const took_ms = performance.now() - began_ms;
    await counter.flush();
    await tab.close();
    return took_ms;
}

/** @typedef {{ module: string, name: string }} Import of a function */

/**
 * Imports with which the module can be instantiated, but not run.
 *
 * @param {Import[]} imports
 */
function standIns(imports) {
    /** @type {Record<string, Record<string, any>>} */
    const all = {};
    for (const { module, name } of imports) (all[module] ??= {})[name] = () => 0;
    return all;
}

/** @param {() => Promise<unknown>} body */
async function timed(body) {
    const began_ms = performance.now();
    await body();
    return performance.now() - began_ms;
}

async function readOneRow() {
    const database = await openDatabase('bare open');
    await done(database.transaction('rows').objectStore('rows').get('one'));
}

/** @param {Import[]} imports */
async function bare(imports) {
    const given = standIns(imports);
    const wasm = await timed(() => WebAssembly.instantiateStreaming(fetch('/dist/web/counters.wasm'), given));
    const database = await timed(readOneRow);
    const lock = await timed(() => navigator.locks.request('bare', () => {}));
    return { wasm, database, lock };
}

Object.assign(globalThis, { bench: { ours, bare } });
