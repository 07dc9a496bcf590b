/** The strategies beside the default one: for the first counter that needs one. */

export class Catalogue {
    #bridge;

    /** By their addresses in the module. @type {Map<number, import('./counter.js').StoredCounter>} */
    #counters = new Map();

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
        bridge.owner.changed = (counter) => this.#counters.get(counter)?._changed();
    }

    /**
     * @param {import('./counter.js').StoredCounter} counter
     * @param {string[]} args see Bridge
     * @param {boolean} strict
     */
    attach(counter, args, strict) {
        const address = this.#bridge.counter(args, strict);
        this.#counters.set(address, counter);
        counter._attach(this.#bridge, address);
    }

    /** Flushes every counter, and lets its locks go, whether the last commits succeed or not. */
    async close() {
        await this.#bridge.promises.make((id) => this.#bridge.invoke('_catalogue_close', [], id));
    }
}
