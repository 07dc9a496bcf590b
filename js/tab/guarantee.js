import { faultClassNames } from '../core/generated/enums/fault-class.js';
import { namesIn } from '../core/packed.js';
import { common, guarantees } from './generated/guarantees.js';

/**
 * What a counter promises in this browser, as data. docs/guarantees.md explains it. `npm run matrix` explores
 * schedules and faults for every strategy, and fails if a declared guarantee is not kept.
 *
 * @typedef {object} Guarantee
 * @property {import('../common/strategies.js').Strategy} strategy
 * @property {string} lost when an increment can be lost, in words
 * @property {Readonly<Record<StorageModel, readonly LossCause[]>>} losses when an increment can be lost, as
 *   data: the faults that may make the final value smaller than the sum of all flushed increments. An empty
 *   list means that nothing does. A fault that is not listed loses nothing under any schedule
 * @property {Readonly<Record<StorageModel, readonly LossCause[]>>} excesses the faults that may make the
 *   final value larger than the sum of all increments
 * @property {boolean} flushNeeded whether a tab that dies may lose increments that it has not flushed; if
 *   false, `add` resolves once the increment is stored
 * @property {string} readsWait what a read waits for
 * @property {string} accuracy which increments a read may miss, or see before they are committed
 * @property {string} rowsPerCounter what is stored for one counter
 * @property {readonly Need[]} needs the parts of the platform that the strategy needs
 * @property {import('./tab-options.js').Durability} durability what an increment has reached when `flush()`
 *   has resolved
 */

/** @typedef {'storage' | 'indexeddb' | 'web-locks'} Need `storage` is localStorage */

/**
 * When a tab sees what other tabs wrote to localStorage. `mutexed`: a turn of the event loop is atomic, as
 * HTML's storage mutex specified it. `interleaved`: each operation is atomic. `cached`: each process has a
 * copy of its own, as browsers implement it.
 * @typedef {'mutexed' | 'interleaved' | 'cached'} StorageModel
 */

/** @typedef {import('../core/generated/enums/fault-class.js').FaultClassName} LossCause */

/**
 * Names the faults of each storage model.
 *
 * @param {number[]} sets one for each model, with a bit for each fault
 */
function byModel(sets) {
    const [mutexed, interleaved, cached] = sets.map((bits) => Object.freeze(namesIn(faultClassNames, bits)));
    return Object.freeze({ mutexed, interleaved, cached });
}

/**
 * Makes the public form of a guarantee from the core's record of it.
 *
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
 * Returns what a counter promises, without asking the program: the build writes the guarantees into this
 * package.
 *
 * @param {import('../common/strategies.js').Strategy} strategy
 * @param {'relaxed' | 'strict'} durability
 * @param {import('./tab.js').Capabilities['store']} store where the tab keeps counters of the default strategy
 * @returns {Readonly<Guarantee>}
 */
export function guaranteeOf(strategy, durability, store) {
    const { strict, ...relaxed } = guarantees[strategy === 'replicated' ? store : strategy];
    return guaranteeFrom({ ...common, strategy, ...relaxed, ...(durability === 'strict' && strict) });
}
