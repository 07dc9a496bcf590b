import { TabacusError } from './errors.js';

/**
 * What its first user loads; the next one again, where that has failed.
 * @template T
 */
export class Loaded {
    #load;

    /** Undefined until somebody has asked for it, and after a failure. @type {Promise<T> | undefined} */
    started;

    /** @param {() => Promise<T>} load */
    constructor(load) {
        this.#load = load;
    }

    /** @returns {Promise<T>} */
    get() {
        this.started ??= this.#load().catch((error) => {
            this.started = undefined;
            if (error instanceof TabacusError) throw error;
            throw new TabacusError('unavailable', 'a module of the package could not be loaded', {
                cause: error,
            });
        });
        return this.started;
    }
}
