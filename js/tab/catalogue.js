/** The strategies other than the default. This file is loaded by the first counter that uses one of them. */

import { catalogueClose, catalogueCounter } from '../core/generated/coordination.js';

export class Catalogue {
    #bridge;

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
    }

    /**
     * Makes the counter of the core that `counter` stands for, and connects the two.
     *
     * @param {import('./counter.js').StoredCounter} counter
     * @param {string} name
     * @param {import('../core/generated/coordination.js').CounterOptions} options
     */
    attach(counter, name, options) {
        const address = this.#bridge.counter(
            JSON.stringify([name, options]),
            () => catalogueCounter(this.#bridge, name, options),
            counter,
        );
        counter._attach(this.#bridge, address);
    }

    /** Flushes every counter and then releases its locks, even if a last commit fails. */
    async close() {
        await catalogueClose(this.#bridge);
    }
}
