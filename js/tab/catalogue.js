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
        const address = this.#bridge.counter(args, strict);
        this.#bridge.callbacks.changed.set(address, () => counter._changed());
        counter._attach(this.#bridge, address);
    }

    /** Flushes every counter, and lets its locks go, whether the last commits succeed or not. */
    async close() {
        await this.#bridge.promises.make((id) => this.#bridge.invoke('_catalogue_close', [], id));
    }
}
