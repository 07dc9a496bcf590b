/**
 * Explores a scenario under fake timers, and writes what was found. Its arguments are the kind of the fakes, and when
 * they are installed.
 */

import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const host = /** @type {any} */ (globalThis);
const realNow = Date.now;
const [kind = '', time] = process.argv.slice(2);

/** The fake clock of Sinon. @type {any} */
let clock;

/** Replaces every function by one that throws, and Date by a class that knows nothing of it. */
function replaceAll() {
    const timers = /** @type {any} */ (require('node:timers'));
    const names = ['setTimeout', 'setInterval', 'setImmediate'].flatMap((name) => [
        name,
        name.replace('set', 'clear'),
    ]);
    const fake = () => {
        throw new Error('a fake was called');
    };
    for (const name of names) host[name] = timers[name] = fake;
    host.queueMicrotask = process.nextTick = /** @type {any} */ (fake);
    host.performance = { now: fake };
    host.Date = class {
        static now = () => 0;
    };
}

function installSinon() {
    const { install, timers } = /** @type {any} */ (require('@sinonjs/fake-timers'));
    clock = install({ toFake: Object.keys(timers) });
    clock.setTimeout(() => {}, 1);
}

/** @type {Record<string, () => void>} */
const kinds = { none: () => {}, replaceAll, installSinon };
const fake = /** @type {() => void} */ (kinds[kind]);

/** @param {any} request @returns {Promise<any>} */
const done = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @param {any} window */
function opened({ indexedDB }) {
    const request = indexedDB.open('shop', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('basket');
    return done(request);
}

/** Whether a handler of a database sees the fake, and not what the emulator replaces it by. */
let unchanged = true;

/** @param {any} window */
async function add(window) {
    const database = await opened(window);
    const { setImmediate } = host;
    const transaction = database.transaction('basket', 'readwrite');
    const store = transaction.objectStore('basket');
    const read = store.get('count');
    read.onsuccess = () => {
        unchanged &&= host.setImmediate === setImmediate;
        store.put((read.result ?? 0) + 1, 'count');
    };
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    database.close();
}

/** @param {{ window: any }} tab */
async function scenario({ window }) {
    const { BroadcastChannel, crypto, navigator, queueMicrotask, setTimeout } = window;
    const channel = new BroadcastChannel('basket');
    channel.onmessage = () => {};
    await new Promise((resolve) => setTimeout(resolve, 20));
    channel.postMessage('hello');
    await new Promise((resolve) => queueMicrotask(resolve));
    await crypto.subtle.digest('SHA-256', new Uint8Array(1));
    await navigator.locks.request('basket', () => add(window));
}

/** @param {any} run */
async function invariant({ origin }) {
    const { window } = origin.openTab();
    const database = await opened(window);
    const count = await done(database.transaction('basket').objectStore('basket').get('count'));
    await new Promise((resolve) => window.setTimeout(resolve, 5));
    return count === 2 || `the count is ${count}`;
}

/** @param {any} emulator */
async function realClock({ createOrigin }) {
    const origin = await createOrigin({ clock: 'real' });
    const { window } = origin.openTab();
    const begin_ms = window.Date.now();
    await new Promise((resolve) => window.setTimeout(resolve, 20));
    const passed_ms = window.Date.now() - begin_ms;
    const off_ms = Math.abs(new window.Date().getTime() - realNow());
    origin.close();
    return passed_ms > 10 && off_ms < 60_000;
}

if (time === 'before') fake();
const emulator = await import('tabacus/emulator');
if (time === 'after') fake();
const before = { timers: clock?.countTimers(), now: clock?.now };
const options = { tabs: 2, seeds: 10, faults: /** @type {const} */ (['freeze']), invariant };
let runs = 0;
const { verdict, failure, hash } = await emulator.explore((tab) => {
    if (time === 'during' && ++runs === 5) fake();
    return scenario(tab);
}, options);
const waits = { seeds: 1, invariant: () => new Promise(() => {}) };
const endless = time === 'before' ? (await emulator.explore(() => {}, waits)).failure : '';
const goesOn = await realClock(emulator);
const untouched = time === 'during' || (clock?.countTimers() === before.timers && clock?.now === before.now);
writeSync(1, JSON.stringify({ verdict, failure, hash, endless, goesOn, unchanged, untouched }));
process.exit();
