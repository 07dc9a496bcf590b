/**
 * The strategies beside the default one: a module and a host of their own, loaded by the first counter
 * that needs them.
 */

import { Bridge } from '../core/bridge.js';
import { loadModule } from '../core/load-module.js';
import { Host } from '../host/host.js';

/**
 * @typedef {object} CatalogueOptions
 * @property {string} namespace
 * @property {import('../host/host.js').Platform} platform
 * @property {import('../core/module.js').WasmSource | undefined} source
 * @property {(notice: import('../core/bridge.js').Notice) => void} notice
 */

/** @param {CatalogueOptions} options */
export async function openCatalogue(options) {
    return new Catalogue(await loadModule('catalogue', options.source), options);
}

export class Catalogue {
    #host;
    #bridge;

    /** By their addresses in the module. @type {Map<number, import('./counter.js').StoredCounter>} */
    #counters = new Map();

    /**
     * @param {import('../core/load-module.js').Glue} glue
     * @param {CatalogueOptions} options
     */
    constructor(glue, { platform, namespace, notice }) {
        this.#host = new Host(platform, namespace);
        this.#bridge = new Bridge(glue, this.#host, {
            changed: (counter) => this.#counters.get(counter)?._changed(),
            notice,
        });
        this.#bridge.start(namespace);
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

    /** The guarantee of an attached counter, field by field. @param {number} address */
    guarantee(address) {
        return this.#bridge.guarantee(address);
    }

    /** Lets everything go, whether the last commits succeed or not. */
    async close() {
        try {
            await this.#bridge.close();
        } finally {
            this.#bridge.promises.rejectAll();
            this.#host.dispose();
        }
    }
}
