/** Computes the figures of a row from what the tabs of one strategy counted. */

/**
 * The work of one tab.
 *
 * @typedef {object} Work
 * @property {number} attempted  increments begun
 * @property {number} acknowledged  increments whose add() resolved
 * @property {number} failed  increments whose add() threw
 * @property {number} took_ms
 * @property {boolean} stuck  whether the last add(), or the flush(), did not end in time
 * @property {number[]} add_ms  samples of the time that one increment takes
 *
 * @typedef {object} Sight
 * @property {number[]} seen_ms  from add() in one tab until another tab had the new value
 * @property {number} missed  how often the other tab did not have it in time
 *
 * @typedef {object} Measured
 * @property {string} strategy
 * @property {string} declared  its `guarantee.lost`
 * @property {Work[]} tabs
 * @property {Sight} [sight]  measured between two tabs; missing if there is one tab
 * @property {{ value: number, values: number[], converged: boolean }} end  the largest value that a tab read in the
 *   end, and the values of all tabs
 *
 * @typedef {object} Row
 * @property {string} strategy
 * @property {string} declared
 * @property {number} adds  increments acknowledged
 * @property {number} value  of the counter in the end
 * @property {number} lost  share of the acknowledged increments that are missing, 0 to 1
 * @property {number} extra  increments that are counted, but that no tab began
 * @property {number} rate  increments a second of all tabs together
 * @property {Spread} add_ms
 * @property {Spread} seen_ms
 * @property {number} missed  how often another tab did not see an increment in time
 * @property {boolean} converged  whether all tabs read the same value in the end
 * @property {number} stuck  tabs whose last add() did not end in time
 * @property {number} failed
 *
 * @typedef {{ p50: number, p99: number }} Spread
 */

/**
 * The nearest-rank percentile: the smallest sample that at least `p` per cent of the samples do not exceed.
 *
 * @param {readonly number[]} samples
 * @param {number} p  above 0, at most 100
 * @returns {number} NaN if there is no sample
 */
export function percentile(samples, p) {
    const sorted = samples.toSorted((a, b) => a - b);
    return sorted[Math.ceil((p / 100) * sorted.length) - 1] ?? NaN;
}

/** @param {readonly number[]} samples @returns {Spread} */
const spread = (samples) => ({ p50: percentile(samples, 50), p99: percentile(samples, 99) });

/**
 * The share of the acknowledged increments that are missing. An increment whose outcome is unknown is left out.
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
