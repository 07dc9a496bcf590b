/** A tab, frame or worker that has ended: none of its handlers runs any more, and its promises stay pending. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Origin} Origin */

/** @typedef {{ run: (script: any, ...given: any[]) => Promise<any>, window?: any, scope?: any }} Place */

/* eslint no-undef: off -- the functions run in a tab, whose globals they use */

/** Opens a database, and leaves its connection as a property of the global object. */
const prepare = async (/** @type {any} */ log) => {
    const opening = indexedDB.open('shared', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('s');
    const connection = await new Promise((resolve) => (opening.onsuccess = () => resolve(opening.result)));
    Object.assign(globalThis, { connection });
    connection.onversionchange = () => {
        log.push('versionchange');
        connection.close();
    };
};

/** Registers a handler for each source of events, begins a promise of each kind, and begins what settles them. */
const arm = (/** @type {string[]} */ log, /** @type {AbortSignal} */ signal) => {
    const note = (/** @type {string} */ what) => () => void log.push(what);
    const settles = (/** @type {string} */ what, /** @type {Promise<unknown>} */ promise) =>
        promise.then(note(what), note(what));
    // Messages
    new BroadcastChannel('all').onmessage = note('broadcast');
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = note('port');
    port2.postMessage(1);
    addEventListener('message', note('message'));
    const worker = new Worker('data:,postMessage(1)');
    worker.onmessage = note('worker');
    // Time
    setTimeout(note('timeout'), 5);
    setInterval(note('interval'), 5000);
    AbortSignal.timeout(5).addEventListener('abort', note('AbortSignal.timeout'));
    // Locks
    const { locks } = navigator;
    const forever = () => new Promise(() => {});
    settles('stolen', locks.request('stolen', forever));
    settles('granted', locks.request('held', note('grant')));
    settles(
        'aborted',
        locks.request('held', { signal }, () => {}),
    );
    settles('unavailable', locks.request('held', { ifAvailable: true }, note('ifAvailable')));
    settles('query', locks.query());
    // Databases
    const { connection } = /** @type {any} */ (globalThis);
    const transaction = connection.transaction('s', 'readwrite');
    transaction.objectStore('s').put(1, 'k').onsuccess = note('request');
    transaction.addEventListener('complete', note('complete'));
    const aborts = connection.transaction('s', 'readwrite');
    aborts.objectStore('s').put(1, 'k').onerror = note('request error');
    aborts.onabort = note('abort');
    aborts.abort();
    indexedDB.open('other').onsuccess = note('open');
    indexedDB.deleteDatabase('none').onsuccess = note('delete');
    settles('databases', indexedDB.databases());
    // The host
    settles('digest', crypto.subtle.digest('SHA-256', new Uint8Array(1)));
    if (typeof document === 'undefined') return;
    // Windows
    addEventListener('storage', note('storage'));
    postMessage(1, '*');
    requestAnimationFrame(note('frame'));
    requestIdleCallback(note('idle'));
    const frame = document.createElement('iframe');
    frame.srcdoc = 'text';
    frame.addEventListener('load', note('load'));
    document.body.append(frame);
};

/** What a live window handles in the order of names; a worker has not the last ones, and its messages come from outside. */
const everything = [
    'AbortSignal.timeout',
    'abort',
    'aborted',
    'broadcast',
    'complete',
    'databases',
    'delete',
    'digest',
    'grant',
    'granted',
    'ifAvailable',
    'interval',
    'message',
    'open',
    'port',
    'query',
    'request',
    'request error',
    'stolen',
    'timeout',
    'unavailable',
    'versionchange',
    'worker',
];
const windows = [...everything, 'frame', 'idle', 'load', 'storage'].sort();

/** @type {Record<string, { open: (origin: Origin) => Place & { end: () => unknown }, handled: string[] }>} */
const ways = {
    'a killed tab': {
        open: (origin) => {
            const tab = origin.openTab();
            return Object.assign(tab, { end: () => tab.kill() });
        },
        handled: windows,
    },
    'a closed tab': {
        open: (origin) => {
            const tab = origin.openTab();
            return Object.assign(tab, { end: () => tab.close() });
        },
        handled: windows,
    },
    'a removed frame': {
        open: (origin) => {
            const tab = origin.openTab();
            const frame = tab.openFrame();
            return Object.assign(frame, { end: () => tab.closeFrame(frame) });
        },
        handled: windows,
    },
    'a terminated worker': {
        open: (origin) => {
            const worker = origin.openTab().openWorker();
            return Object.assign(worker, { end: () => worker.terminate() });
        },
        handled: everything.filter((name) => name !== 'message'),
    },
    'a tab of a closed origin': {
        open: (origin) => Object.assign(origin.openTab(), { end: () => origin.close() }),
        handled: windows,
    },
};

/**
 * Arms a place, lets another tab cause events, and returns what the place handled.
 *
 * @param {Origin} origin
 * @param {Place & { end: () => unknown }} place
 * @param {boolean} ends whether it is ended once it is armed
 */
async function handledBy(origin, place, ends) {
    const live = origin.openTab().window;
    /** @type {string[]} */
    const log = [];
    const prepared = place.run(prepare, log);
    await origin.settled();
    await prepared;
    let release = () => {};
    void live.navigator.locks.request(
        'held',
        () => new Promise((resolve) => (release = () => resolve(undefined))),
    );
    await origin.settled();
    const controller = new AbortController();
    const pinned = origin.hold(); // nothing happens before the end
    await place.run(arm, log, controller.signal);
    live.localStorage.setItem('k', 'v');
    new live.BroadcastChannel('all').postMessage(1);
    if (ends) await place.end();
    pinned();
    await origin.settled();
    controller.abort();
    release();
    if (!origin.closed) {
        void live.navigator.locks.request('stolen', { steal: true }, () => {});
        live.indexedDB.open('shared', 2);
        await new Promise((resolve) => live.setTimeout(resolve, 7000));
    }
    return [...new Set(log)].sort();
}

describe('a tab, frame or worker that has ended', () => {
    for (const [name, { open, handled }] of Object.entries(ways)) {
        it(`none of the handlers of ${name} runs, and its promises stay pending`, async () => {
            const origin = await createOrigin({ seed: 3 });
            assert.deepEqual(await handledBy(origin, open(origin), false), handled, 'while it is alive');
            origin.close();
            const ended = await createOrigin({ seed: 3 });
            assert.deepEqual(await handledBy(ended, open(ended), true), []);
            ended.close();
        });
    }
});
