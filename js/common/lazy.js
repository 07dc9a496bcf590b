import { importFailure } from './import-failure.js';

/**
 * A value that is loaded by the first get(). After a failure the next get() loads it again, and so does the
 * function that the callback `failed` receives.
 *
 * @template T
 */
export class Lazy {
    #load;
    #failed;

    /** Undefined before the first get(), and after a failure. @type {Promise<T> | undefined} */
    started;

    /** The loaded value; undefined before it is loaded. @type {T | undefined} */
    value;

    /** The callbacks of whenLoaded(). @type {Set<() => void>} */
    #waiting = new Set();

    /**
     * @param {() => Promise<T>} load
     * @param {(again: () => void) => void} [failed] called after each failure with a function that loads the
     *   value again
     */
    constructor(load, failed = () => {}) {
        this.#load = load;
        this.#failed = failed;
    }

    /** Returns the value, and loads it if necessary. @returns {Promise<T>} rejects if it cannot be loaded */
    get() {
        if (!this.started) {
            this.started = this.#load().catch((error) => {
                this.started = undefined;
                this.#failed(this.#again);
                throw importFailure(error);
            });
            // This reaction is the first of the promise. The callers of get() continue right after it, so no
            // later call that finds `value` overtakes them.
            this.started.then(
                (loaded) => {
                    this.value = loaded;
                    for (const begin of [...this.#waiting]) begin();
                    this.#waiting.clear();
                },
                () => {},
            );
        }
        return this.started;
    }

    #again = () => {
        this.get().catch(() => {}); // the next call that uses the value reports the failure
    };

    /**
     * Calls `begin` once the value is loaded. Requires that it is not loaded.
     *
     * @param {() => void} begin
     * @returns {() => void} withdraws `begin`
     */
    whenLoaded(begin) {
        if (!this.value) this.#waiting.add(begin);
        return () => void this.#waiting.delete(begin);
    }
}
