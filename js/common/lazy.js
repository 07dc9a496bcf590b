import { TabacusError } from './errors.js';

/**
 * A value that is loaded by the first get(), and by the next one again if that has failed.
 * @template T
 */
export class Lazy {
    #load;

    /** Undefined before the first get(), and after a failure. @type {Promise<T> | undefined} */
    started;

    /** What was loaded, once it is. @type {T | undefined} */
    value;

    /** @param {() => Promise<T>} load */
    constructor(load) {
        this.#load = load;
    }

    /** @returns {Promise<T>} */
    get() {
        this.started ??= this.#load().then(
            (loaded) => (this.value = loaded),
            (error) => {
                this.started = undefined;
                if (error instanceof TabacusError) throw error;
                throw new TabacusError('unavailable', 'a module of the package could not be loaded', {
                    cause: error,
                });
            },
        );
        return this.started;
    }
}
