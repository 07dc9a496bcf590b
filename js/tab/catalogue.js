/** The strategies beside the default one: for the first counter that needs one. */

export class Catalogue {
    #bridge;

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
    }

    /**
     * @param {import('./counter.js').StoredCounter} counter
     * @param {string[]} args see Bridge
     * @param {boolean} strict
     */
    attach(counter, args, strict) {
        const { address, end } = this.#bridge.counter(args, strict, () => counter._changed());
        counter._attach(this.#bridge, address, end);
    }

    /** Flushes every counter, and lets its locks go, whether the last commits succeed or not. */
    async close() {
        await this.#bridge.promises.make((id) => this.#bridge.number('_catalogue_close', id), Infinity);
    }
}
