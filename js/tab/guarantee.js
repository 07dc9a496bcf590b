import { faultClassNames } from '../core/generated/enums/fault-class.js';
import { namesIn } from '../core/packed.js';
import { common, guarantees } from './generated/guarantees.js';

/**
 * What a counter promises here, as data.
 *
 * @typedef {object} Guarantee
 * @property {import('../common/strategies.js').Strategy} strategy
 * @property {string} lost when an increment can be lost
 * @property {Readonly<Record<StorageModel, readonly LossCause[]>>} losses the same as data: what may make
 *   the value end below all that was flushed. Empty: nothing does. What is not listed is promised under
 *   every schedule
 * @property {Readonly<Record<StorageModel, readonly LossCause[]>>} excesses what may make it end above all
 *   that was added
 * @property {boolean} flushNeeded whether an increment may die with its tab until `flush` has resolved;
 *   otherwise `add` has stored it when it resolves
 * @property {string} readsWait what a read waits for
 * @property {string} accuracy what a read may miss, or see too early
 * @property {string} rowsPerCounter what is stored for one counter
 * @property {readonly Need[]} needs the parts of the platform that it needs
 * @property {import('./tab-options.js').Durability} durability what an increment has reached when `flush`
 *   has resolved
 */

/** @typedef {'storage' | 'indexeddb' | 'web-locks'} Need `storage` is localStorage */

/**
 * When a tab sees what others wrote to localStorage: a turn of the event loop is atomic, as HTML's storage mutex had it
 * (`mutexed`); each operation is (`interleaved`); each process has a copy of its own, as browsers do it
 * (`cached`).
 * @typedef {'mutexed' | 'interleaved' | 'cached'} StorageModel
 */

/** @typedef {import('../core/generated/enums/fault-class.js').FaultClassName} LossCause */

/** @param {number[]} sets of faults, a bit for each, by storage model */
function byModel(sets) {
    const [mutexed, interleaved, cached] = sets.map((bits) => Object.freeze(namesIn(faultClassNames, bits)));
    return Object.freeze({ mutexed, interleaved, cached });
}

/**
 * @param {import('../core/generated/coordination.js').Guarantee} record
 * @returns {Readonly<Guarantee>}
 */
export function guaranteeFrom({ rows, losses, excesses, needs, ...plain }) {
    const all = {
        ...plain,
        losses: byModel(losses),
        excesses: byModel(excesses),
        rowsPerCounter: rows,
        needs: Object.freeze(needs.split(', ').filter(Boolean)),
    };
    return Object.freeze(/** @type {Guarantee} */ (/** @type {unknown} */ (all)));
}

/**
 * What a counter promises.
 *
 * @param {import('../common/strategies.js').Strategy} strategy
 * @param {'relaxed' | 'strict'} durability
 * @param {import('./tab.js').Capabilities['store']} store where the tab keeps counters of the default strategy
 * @returns {Readonly<Guarantee>}
 */
export function guaranteeOf(strategy, durability, store) {
    const { relaxed, strict } = guarantees[strategy === 'replicated' ? store : strategy];
    return guaranteeFrom({ ...common, strategy, ...relaxed, ...(durability === 'strict' && strict) });
}
