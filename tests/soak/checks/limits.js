/** Numbers of sequences are distinct and rise, budgets are never overspent, and rate limits hold. */

import { BUDGET, RATE } from '../page/limits.js';
import { groupBy } from './group-by.js';

/** @typedef {import('../event-log.js').Event} Event */

/** The clocks of two pages differ by less, in ms. */
const CLOCK_ERROR_MS = 5;

/** @param {readonly Event[]} events @returns {string[]} */
export function checkLimits(events) {
    return [...checkSequences(events), ...checkBudgets(events), ...checkRate(events)];
}

/** @param {readonly Event[]} events */
function checkSequences(events) {
    const given = events.filter(({ type, kind, ok }) => type === 'end' && kind === 'sequence' && ok);
    const byName = groupBy(given, ({ name }) => name);
    return [...byName].flatMap(([name, of]) => {
        const inOrder = of.toSorted((a, b) => a.first - b.first);
        return inOrder.slice(1).flatMap(({ op, first }, index) => {
            const former = /** @type {Event} */ (inOrder[index]);
            if (former.last < first) return [];
            return [`${name}: ${former.op} got ${former.first} to ${former.last}, and ${op} got ${first}`];
        });
    });
}

/** What was taken for certain, and perhaps given back, is never more than the budget. @param {readonly Event[]} events */
function checkBudgets(events) {
    /** @type {Map<string, number>} */
    const takens = new Map();
    /** @type {string[]} */
    const violations = [];
    for (const { type, name, n } of events) {
        if (type !== 'taken' && type !== 'give-begin' && type !== 'drained') continue;
        const taken = (takens.get(name) ?? 0) + (type === 'give-begin' ? -n : n);
        takens.set(name, taken);
        if (taken > BUDGET) violations.push(`${name}: ${taken} of ${BUDGET} were taken at once`);
    }
    return violations;
}

/** @param {readonly Event[]} events */
function checkRate(events) {
    const grants_ms = events
        .flatMap(({ type, kind, granted_ms }) =>
            type === 'end' && kind === 'rateLimit' && granted_ms ? [granted_ms] : [],
        )
        .sort((a, b) => a - b);
    const { limit, interval } = RATE;
    return grants_ms.slice(limit).flatMap((granted_ms, index) => {
        const span_ms = granted_ms - grants_ms[index];
        if (span_ms >= interval - CLOCK_ERROR_MS) return [];
        return [`the rate limit granted ${limit + 1} calls in ${Math.round(span_ms)} ms`];
    });
}
