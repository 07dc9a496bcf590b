/** The functions of a Worker that uses locks and counters over tabs. Its page calls them. */

import { answerCalls } from './worker-calls.js';

/** @typedef {import('tabacus/worker').AttachedMemory} AttachedMemory */

/**
 * @param {(handle: any) => Promise<AttachedMemory>} attach
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} a function to call with each message
 */
export function tabLocker(attach, post) {
    /** @type {AttachedMemory} */
    let shared;
    const methods = {
        /** @param {any} handle */
        async attach(handle) {
            shared = await attach(handle);
        },
        close: () => shared.close(),
        /**
         * @param {string} name
         * @param {{ timeout?: number }} [options]
         */
        lock: (name, options) => shared.tabLock(name).lock(options),
        /** @param {string} name */
        tryLock: (name) => shared.tabLock(name).tryLock(),
        /** @param {string} name */
        lockAsync: async (name) => (await shared.tabLock(name).lockAsync()).token,
        /**
         * Requests the lock over tabs and the mutex of this name, which others hold. Resolves with how each
         * request ended: `granted`, or the name of the error.
         *
         * @param {string} name
         * @param {{ timeout: number }} options
         */
        lockInTime: (name, options) =>
            Promise.all(
                [shared.tabLock(name), shared.mutex(name)].map((lock) =>
                    lock.lockAsync(options).then(
                        () => 'granted',
                        ({ name: error }) => error,
                    ),
                ),
            ),
        /** @param {string} name */
        unlock: (name) => shared.tabLock(name).unlock(),
        /** @param {string} name */
        held: (name) => shared.tabLock(name).held,
        /** @param {string} name */
        token: (name) => shared.tabLock(name).token,
        /**
         * Adds to a counter over tabs. Returns the value that the Worker then knows.
         *
         * @param {string} name
         * @param {number} n
         * @param {number} [times]
         */
        add(name, n, times = 1) {
            const counter = shared.tabCounter(name);
            for (let i = 0; i < times; i++) counter.add(n);
            return counter.value;
        },
        /**
         * Adds one to a counter over tabs until the Worker is terminated, and writes how often into `added`.
         *
         * @param {string} name
         * @param {Int32Array} added
         */
        addForEver(name, added) {
            for (const counter = shared.tabCounter(name); ; Atomics.add(added, 0, 1)) counter.add();
        },
        /**
         * @param {string} name
         * @param {{ timeout?: number }} [options]
         */
        flush: (name, options) => shared.tabCounter(name).flush(options),
        /**
         * Adds to the counter `mark` when the flush has ended.
         *
         * @param {string} name
         * @param {{ timeout?: number }} options
         * @param {string} mark
         */
        flushAndMark: (name, options, mark) => {
            try {
                shared.tabCounter(name).flush(options);
            } finally {
                shared.tabCounter(mark).add();
            }
        },
        /** @param {string} name */
        flushAsync: (name) => shared.tabCounter(name).flushAsync(),
        /** @param {string} name */
        value: (name) => shared.tabCounter(name).value,
        /** @param {string} name */
        read: (name) => shared.tabCounter(name).read(),
        /**
         * Resolves with the first value of a counter that is at least `least`.
         *
         * @param {string} name
         * @param {number} least
         * @returns {Promise<number>}
         */
        atLeast: (name, least) =>
            new Promise((resolve) => {
                const counter = shared.tabCounter(name);
                const stop = counter.subscribe((value) => {
                    if (value < least) return;
                    resolve(value);
                    queueMicrotask(() => stop());
                });
            }),
        /**
         * Adds one to a plain number `times` times, each time under the lock and with a pause between its
         * load and its store.
         *
         * @param {string} name
         * @param {number} times
         * @param {Int32Array} plain
         * @returns {number[]} the tokens
         */
        count(name, times, plain) {
            const lock = shared.tabLock(name);
            return Array.from({ length: times }, () => {
                const token = lock.lock();
                const before = Number(plain[0]);
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.05);
                plain[0] = before + 1;
                lock.unlock();
                return token;
            });
        },
        /**
         * Adds one to a number in IndexedDB `times` times under the lock. Each time it reads the number in
         * one transaction and writes it in another.
         *
         * @param {string} name
         * @param {number} times
         * @param {string} database
         * @returns {Promise<number[]>} the tokens
         */
        async countIn(name, times, database) {
            const lock = shared.tabLock(name);
            const opening = indexedDB.open(database);
            opening.onupgradeneeded = () => opening.result.createObjectStore('numbers');
            const db = await done(opening);
            const numbers = (/** @type {IDBTransactionMode} */ mode) =>
                db.transaction('numbers', mode).objectStore('numbers');
            const tokens = [];
            for (let i = 0; i < times; i++) {
                tokens.push(lock.lock({ timeout: 60_000 }));
                const before = (await done(numbers('readonly').get('n'))) ?? 0;
                const writing = numbers('readwrite');
                writing.put(before + 1, 'n');
                await new Promise((resolve) => (writing.transaction.oncomplete = resolve));
                lock.unlock();
            }
            db.close();
            return tokens;
        },
    };
    return answerCalls(methods, post);
}

/**
 * Resolves with the result of a request, or rejects with its error.
 *
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const done = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
