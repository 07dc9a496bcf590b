/** The strategies of counters, and the options of each. */

/**
 * `replicated` is the default, and keeps a row for each tab. The others are algorithms from the literature
 * and from common practice (docs/guarantees.md).
 * @typedef {'replicated' | 'naive' | 'log' | 'lamport' | 'eventual' | 'transactional' | 'locked'
 *   | 'optimistic' | 'deltas' | 'batched'} Strategy
 */

/**
 * The largest value of an option that is a time: an hour. The strategies are not made for longer waits.
 */
const hour_ms = 3_600_000;

/**
 * The strategies with their options, each of which is a time in milliseconds with its least and its largest
 * value.
 *
 * @type {Record<Strategy, Record<string, readonly [least: number, most: number]>>}
 */
export const strategyOptions = {
    replicated: {},
    naive: {},
    log: { foldAfter: [100, hour_ms] },
    lamport: { delay: [0, 60_000], backOff: [1, 60_000], forceAfter: [100, hour_ms] },
    eventual: {},
    transactional: {},
    locked: {},
    optimistic: { backOff: [0, 60_000] },
    deltas: { threshold: [0, hour_ms] },
    batched: { interval: [1, hour_ms] },
};

/** The names of all strategies, the default first. */
export const STRATEGIES = /** @type {readonly Strategy[]} */ (Object.keys(strategyOptions));
