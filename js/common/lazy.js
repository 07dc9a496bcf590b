import { importFailure } from './import-failure.js';

/**
 * A value that is loaded by the first get(). After a failure it is loaded again by the next get(), and when `failed`
 * says so.
 *
 * @template T
 */
export class Lazy {
    #load;
    #failed;

    /** Undefined before the first get(), and after a failure. @type {Promise<T> | undefined} */
    started;

    /** What was loaded, once it is. @type {T | undefined} */
    value;

    /** @type {Set<() => void>} */
    #waiting = new Set();

    /**
     * @param {() => Promise<T>} load
     * @param {(again: () => void) => void} [failed] given what loads again, after a failure
     */
    constructor(load, failed = () => {}) {
        this.#load = load;
        this.#failed = failed;
    }

    /** @returns {Promise<T>} */
    get() {
        if (!this.started) {
            this.started = this.#load().catch((error) => {
                this.started = undefined;
                this.#failed(this.#again);
                throw importFailure(error);
            });
            // The callers of get() continue right after this, so that no call that finds the value overtakes them.
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
        this.get().catch(() => {}); // reported by the call that uses it
    };

    /**
     * Calls `begin` once the value is loaded. Requires that it is not loaded.
     *
     * @param {() => void} begin
     * @returns {() => void} withdraws it
     */
    whenLoaded(begin) {
        if (!this.value) this.#waiting.add(begin);
        return () => void this.#waiting.delete(begin);
    }
}
