/** The strategies by which a counter can count, and the options of each. */

/**
 * The default, which keeps a row per tab, and the ways to count that others have written down.
 * @typedef {'replicated' | 'naive' | 'log' | 'lamport' | 'eventual' | 'transactional' | 'locked'
 *   | 'optimistic' | 'deltas' | 'batched'} Strategy
 */

/** The longest time that an option may name: an hour. Who waits longer has another design in mind. */
const hour_ms = 3_600_000;

/**
 * The strategies, each with its own options: times in milliseconds, from the least to the most.
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
