import { TabacusError } from '../common/errors.js';
import { checkName } from '../common/check-arguments.js';
import { ReplicatedCounter, StoredCounter } from './counter.js';
import { guaranteeOf } from './guarantee.js';
import { checkCounterOptions, isWeaker } from './tab-options.js';

/** @typedef {import('./tab.js').Counter} Counter */

/** The counters of one handle. The same name and options give the same counter. */
export class TabCounters {
    #engine;
    #owner;
    #store;

    /** The counters, by name and options. @type {Map<string, Counter>} @internal */
    _all = new Map();

    /**
     * @param {import('./engine.js').Engine} engine
     * @param {import('./tab.js').Tab} owner
     * @param {import('./tab.js').Capabilities['store']} store
     */
    constructor(engine, owner, store) {
        this.#engine = engine;
        this.#owner = owner;
        this.#store = store;
    }

    /**
     * Implements tab.counter().
     *
     * @param {string} name
     * @param {unknown} options
     * @returns {Counter}
     * @internal
     */
    _counter(name, options) {
        const checked = checkCounterOptions(options);
        const { strategy, durability, times } = checked;
        const key = JSON.stringify([checkName(name), strategy, durability, times]);
        this.#owner._assertOpen();
        const counter = this._all.get(key) ?? this.#make(name, checked);
        this._all.set(key, counter); // kept even if refused below: the core has it until the tab closes
        if (checked.demanded) this.#checkDurability(counter, checked.durability);
        return counter;
    }

    /**
     * Makes a counter.
     *
     * @param {string} name
     * @param {import('./tab-options.js').CheckedCounterOptions} options
     * @returns {Counter}
     */
    #make(name, { strategy, durability: asked, times }) {
        const durability = asked === 'strict' ? 'strict' : 'relaxed';
        const guarantee = guaranteeOf(strategy, durability, this.#store);
        if (strategy !== 'replicated') {
            this.#checkNeeds(guarantee);
            const { catalogue } = this.#engine;
            const load = async (/** @type {StoredCounter} */ counter) =>
                (await catalogue.get()).attach(counter, name, { strategy, durability, times });
            return new StoredCounter(name, guarantee, this.#owner, load, (begin) =>
                catalogue.whenLoaded(begin),
            );
        }
        return new ReplicatedCounter(name, this.#engine.bridge, durability, guarantee, this.#owner);
    }

    /**
     * Checks that the platform has what a strategy needs.
     *
     * @param {Readonly<import('./guarantee.js').Guarantee>} guarantee
     */
    #checkNeeds({ strategy, needs }) {
        const { storage, locks } = this.#engine.host;
        /** @type {Record<import('./guarantee.js').Need, [available: boolean, name: string]>} */
        const parts = {
            storage: [storage.available, 'localStorage'],
            indexeddb: [this.#store === 'indexeddb', 'IndexedDB'],
            'web-locks': [locks.available, 'Web Locks'],
        };
        for (const need of needs) {
            const [available, name] = parts[need];
            if (!available) throw new TabacusError('unavailable', `the strategy ${strategy} needs ${name}`);
        }
    }

    /**
     * Checks that a counter is as durable as the caller demands.
     *
     * @param {Counter} counter
     * @param {import('./tab-options.js').Durability} durability
     */
    #checkDurability({ guarantee }, durability) {
        if (this.#owner._allowWeaker || !isWeaker(guarantee.durability, durability)) return;
        const has = `the strategy ${guarantee.strategy} has only ${guarantee.durability} durability here`;
        throw new TabacusError('weaker-guarantee', `${has}: ask for that, or open({ allowWeaker: true })`, {
            argument: 'durability',
            value: durability,
            allowed: guarantee.durability,
        });
    }
}

/**
 * Flushes the counters of a handle that closes while other handles are open. A counter that could not be
 * loaded has nothing to flush, so its error is ignored.
 *
 * @param {Counter[]} counters
 * @returns {Promise<void>} rejects as a counter's `flush()` does
 */
export async function flushAll(counters) {
    const flushed = await Promise.allSettled(counters.map((counter) => counter.flush()));
    for (const one of flushed)
        if (one.status === 'rejected' && one.reason.code !== 'unavailable') throw one.reason;
}
