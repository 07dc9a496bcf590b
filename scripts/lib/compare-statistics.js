/** What the tabs of one strategy counted, as the figures of a row. */

/**
 * What one tab did.
 *
 * @typedef {object} Work
 * @property {number} attempted  increments begun
 * @property {number} acknowledged  increments whose add() came back
 * @property {number} failed  increments whose add() threw
 * @property {number} took_ms
 * @property {boolean} stuck  the last add(), or the flush(), did not come back in time
 * @property {number[]} add_ms  one increment, sampled
 *
 * @typedef {object} Sight
 * @property {number[]} seen_ms  from add() in one tab until another tab had the new value
 * @property {number} missed  how often it did not in time
 *
 * @typedef {object} Measured
 * @property {string} strategy
 * @property {string} declared  its `guarantee.lost`
 * @property {Work[]} tabs
 * @property {Sight} [sight]  of two tabs, if there are as many
 * @property {{ value: number, values: number[], converged: boolean }} end  the largest read(); all of them
 *
 * @typedef {object} Row
 * @property {string} strategy
 * @property {string} declared
 * @property {number} adds  increments acknowledged
 * @property {number} value  what they came to
 * @property {number} lost  share of the acknowledged increments that are missing, 0 to 1
 * @property {number} extra  increments counted that nobody began
 * @property {number} rate  increments a second, of all tabs
 * @property {Spread} add_ms
 * @property {Spread} seen_ms
 * @property {number} missed  how often another tab did not see an increment in time
 * @property {boolean} converged  whether all tabs read the same in the end
 * @property {number} stuck  tabs whose last add() did not come back in time
 * @property {number} failed
 *
 * @typedef {{ p50: number, p99: number }} Spread
 */

/**
 * The nearest-rank percentile: the smallest sample that at least `p` per cent of all do not exceed.
 *
 * @param {readonly number[]} samples
 * @param {number} p  above 0, at most 100
 * @returns {number} NaN of no samples
 */
export function percentile(samples, p) {
    const sorted = samples.toSorted((a, b) => a - b);
    return sorted[Math.ceil((p / 100) * sorted.length) - 1] ?? NaN;
}

/** @param {readonly number[]} samples @returns {Spread} */
const spread = (samples) => ({ p50: percentile(samples, 50), p99: percentile(samples, 99) });

/**
 * Counts what was acknowledged: an increment whose outcome is unknown counts neither way.
 *
 * @param {number} acknowledged
 * @param {number} value
 * @returns {number} 0 to 1
 */
export const lostShare = (acknowledged, value) =>
    acknowledged === 0 ? 0 : Math.min(1, Math.max(0, (acknowledged - value) / acknowledged));

/** @param {Measured} measured @returns {Row} */
export function summarise({ strategy, declared, tabs, sight, end }) {
    /** @param {(work: Work) => number} of */
    const total = (of) => tabs.reduce((sum, work) => sum + of(work), 0);
    const adds = total(({ acknowledged }) => acknowledged);
    return {
        strategy,
        declared,
        adds,
        value: end.value,
        lost: lostShare(adds, end.value),
        extra: Math.max(0, end.value - total(({ attempted }) => attempted)),
        rate: total(({ acknowledged, took_ms }) => (acknowledged / took_ms) * 1000),
        add_ms: spread(tabs.flatMap(({ add_ms }) => add_ms)),
        seen_ms: spread(sight?.seen_ms ?? []),
        missed: sight?.missed ?? 0,
        converged: end.converged,
        stuck: tabs.filter(({ stuck }) => stuck).length,
        failed: total(({ failed }) => failed),
    };
}
