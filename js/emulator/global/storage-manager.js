/** navigator.storage (Storage Standard §4.8): whether the browser keeps the data of the origin. */

import { forEachGlobal, idlInterface, onlyInternal } from '../../platform/web-idl.js';

/** @typedef {import('../context.js').Context} Context */

/** The quota that estimate() reports: that of a browser with a disk of 16 GB or so. */
const quota_bytes = 10 * 1024 ** 3;

/** Makes the interface StorageManager. @type {() => any} */
export const storageManagerInterface = /* @__PURE__ */ forEachGlobal(() => {
    class StorageManager {
        /** @type {Context} */
        #context;

        /** @param {symbol} key @param {Context} context */
        constructor(key, context) {
            onlyInternal(key);
            this.#context = context;
        }

        /** Asks the browser to keep the data. The origin's option `persistence` decides. */
        async persist() {
            const { persistence } = this.#context.origin;
            persistence.granted ||= persistence.allowed;
            return this.#answer(persistence.granted);
        }

        async persisted() {
            return this.#answer(this.#context.origin.persistence.granted);
        }

        /** Estimates the usage: the emulator counts only what localStorage holds. */
        async estimate() {
            const { localStorage } = this.#context.window;
            let usage = 0;
            for (let at = 0; at < (localStorage?.length ?? 0); ++at) {
                const key = localStorage.key(at);
                usage += 2 * (key.length + localStorage.getItem(key).length);
            }
            return this.#answer({ quota: quota_bytes, usage });
        }

        /** @template T @param {T} value @returns {Promise<T>} */
        #answer(value) {
            const context = this.#context;
            context.checkStorable('navigator.storage');
            return new Promise((resolve) => context.queueTask(() => resolve(value), 'database'));
        }
    }
    return idlInterface(StorageManager, 'StorageManager');
});
