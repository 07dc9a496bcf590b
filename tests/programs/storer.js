/** The functions of a Worker that uses the storage and the locks of threads. Its page calls them. */

import { answerCalls } from './worker-calls.js';

/** @typedef {import('tabacus/worker').AttachedMemory} AttachedMemory */

/**
 * @param {(handle: any) => Promise<AttachedMemory>} attach
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} a function to call with each message
 */
export function storer(attach, post) {
    /** @type {AttachedMemory} */
    let shared;
    /** @type {Storage} */
    let storage;
    /** @type {(string | null)[][]} */
    const events = [];
    const methods = {
        /** @param {any} handle @param {object} [options] */
        async attach(handle, options) {
            shared = await attach(handle);
            shared.addEventListener(
                'storage',
                (/** @type {any} */ { key, oldValue, newValue, storageArea }) => {
                    if (storageArea === storage) events.push([key, oldValue, newValue]);
                },
            );
            storage = await shared.storage(options);
        },
        close: () => shared.close(),
        capability: () => shared.capabilities.storage,
        /** @param {string} key */
        get: (key) => storage.getItem(key),
        /** @param {string} key @param {string} value */
        set: (key, value) => storage.setItem(key, value),
        /** @param {string} key @param {number} to */
        countTo: (key, to) => {
            for (let i = 1; i <= to; i++) storage.setItem(key, String(i));
        },
        /** @param {string} key */
        remove: (key) => storage.removeItem(key),
        clear: () => storage.clear(),
        items: () => Object.entries(storage),
        events: () => events,
        /**
         * Sets items of its own, and checks after each whether it reads the value that it has set.
         *
         * @param {string} own
         * @param {number} times
         * @returns {number} how often it read another value
         */
        hammer(own, times) {
            let wrong = 0;
            for (let i = 0; i < times; i++) {
                const value = `${own} ${i} `.repeat(i % 13);
                storage.setItem(`${own}/${i % 7}`, value);
                if (storage.getItem(`${own}/${i % 7}`) !== value) wrong++;
                if (i % 11 === 0) storage.removeItem(`${own}/${(i + 3) % 7}`);
            }
            return wrong;
        },
        /** @param {string} name @param {object} options */
        hold: (name, options) =>
            new Promise((resolve, reject) => {
                const held = shared.locks.request(
                    name,
                    options,
                    (lock) => (resolve(lock?.mode), new Promise(() => {})),
                );
                held.catch(reject);
            }),
        /**
         * Adds one to a plain number `times` times, each time under the lock and with a pause between its
         * load and its store.
         *
         * @param {string} name
         * @param {number} times
         * @param {Int32Array} plain
         */
        async count(name, times, plain) {
            for (let i = 0; i < times; i++) {
                await shared.locks.request(name, async () => {
                    const before = Number(plain[0]);
                    await new Promise((resolve) => setTimeout(resolve, i % 2));
                    plain[0] = before + 1;
                });
            }
        },
        query: () => shared.locks.query(),
        /** Sets and removes items until the Worker is terminated. @param {string} own */
        write(own) {
            for (let i = 0; ; i++) {
                storage.setItem(`${own}/${i % 5}`, `${own} ${i} `.repeat(i % 300));
                if (i % 9 !== 0) continue;
                storage.removeItem(`${own}/${(i + 2) % 5}`);
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2);
            }
        },
    };
    return answerCalls(methods, post);
}
