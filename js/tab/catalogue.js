/**
 * The strategies beside the default one: a module and a host of their own, loaded by the first counter
 * that needs them.
 */

import { Border } from '../core/bridge.js';
import { loadCore } from '../core/tab-core.js';
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
    return new Catalogue(await loadCore('catalogue', options.source), options);
}

export class Catalogue {
    #host;
    #border;

    /** By their addresses in the module. @type {Map<number, import('./counter.js').StoredCounter>} */
    #counters = new Map();

    /**
     * @param {import('../core/tab-core.js').Glue} glue
     * @param {CatalogueOptions} options
     */
    constructor(glue, { platform, namespace, notice }) {
        this.#host = new Host(platform, namespace);
        this.#border = new Border(glue, this.#host, {
            changed: (counter) => this.#counters.get(counter)?._changed(),
            notice,
        });
        this.#border.start(namespace);
    }

    /**
     * @param {import('./counter.js').StoredCounter} counter
     * @param {string[]} words see Border
     * @param {boolean} strict
     */
    attach(counter, words, strict) {
        const address = this.#border.counter(words, strict);
        this.#counters.set(address, counter);
        counter._attach(this.#border, address);
    }

    /** What the module says of an attached counter, field by field. @param {number} address */
    guarantee(address) {
        return this.#border.guarantee(address);
    }

    /** Lets everything go, whether the last commits succeed or not. */
    async close() {
        try {
            await this.#border.close();
        } finally {
            this.#border.promises.rejectAll();
            this.#host.dispose();
        }
    }
}
