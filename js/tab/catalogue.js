/** The strategies beside the default one: for the first counter that needs one. */

import { catalogueClose, catalogueCounter } from '../core/generated/coordination.js';

export class Catalogue {
    #bridge;

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
    }

    /**
     * @param {import('./counter.js').StoredCounter} counter
     * @param {string} name
     * @param {import('../core/generated/coordination.js').CounterOptions} options
     */
    attach(counter, name, options) {
        const { address, end } = this.#bridge.counter(
            JSON.stringify([name, options]),
            () => catalogueCounter(this.#bridge, name, options),
            () => counter._changed(),
        );
        counter._attach(this.#bridge, address, end);
    }

    /** Flushes every counter, and lets its locks go, whether the last commits succeed or not. */
    async close() {
        await catalogueClose(this.#bridge);
    }
}
