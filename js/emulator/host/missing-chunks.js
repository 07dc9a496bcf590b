/** Files of tabacus that are missing for a tab: loading them fails, as after a deployment or on a train. */

import { TabacusError } from '../../common/errors.js';

export class MissingChunks {
    #left = 0;

    /**
     * Lets the next loads fail.
     *
     * @param {number} loads
     * @returns {() => void} ends this
     */
    lose(loads) {
        this.#left = loads;
        return () => {
            this.#left = 0;
        };
    }

    /**
     * Returns a load of a file, or one that fails.
     *
     * @template Work
     * @param {Work} work
     * @param {string} what `import()`, or the name of a piece of the program
     * @returns {Work | Promise<never>}
     */
    load(work, what) {
        if (this.#left === 0) return work;
        --this.#left;
        Promise.resolve(work).catch(() => {}); // its own failure does not matter
        return Promise.reject(
            what === 'import()'
                ? new TypeError('Failed to fetch dynamically imported module')
                : new TabacusError('unavailable', `${what} could not be loaded: Failed to fetch; call again`),
        );
    }
}
