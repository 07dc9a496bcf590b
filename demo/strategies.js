/**
 * The four ways of counting that race here. The package does the counting; here are their words.
 */

/**
 * @typedef {'replicated' | 'transactional' | 'locked' | 'naive'} StrategyName
 * @typedef {{ name: StrategyName, tag: string, what: string }} Strategy
 */

/** @type {readonly Strategy[]} */
export const STRATEGIES = Object.freeze([
    {
        name: 'replicated',
        tag: 'the default',
        what: 'Each tab adds to a total of its own at once, and saves it in a row of its own. The value is the sum of the rows.',
    },
    {
        name: 'transactional',
        tag: 'exact, slow',
        what: 'One IndexedDB transaction for every increment. The store itself puts them in a row.',
    },
    {
        name: 'locked',
        tag: 'often recommended',
        what: 'Read, add one and write in localStorage, inside a Web Lock. The lock arrives before the other tab’s write does.',
    },
    {
        name: 'naive',
        tag: 'often written',
        what: 'Read, add one and write in localStorage. Two tabs read the same number, and one increment is gone.',
    },
]);

/** @typedef {Awaited<ReturnType<typeof import('../js/index.js').open>>} Tab */
/** @typedef {ReturnType<Tab['counter']>} Counter */
/** @typedef {Record<StrategyName, Counter>} Counters */

/**
 * The same counter by every strategy, so each has a name of its own.
 *
 * @param {Tab} tab
 * @returns {Counters}
 */
export function openCounters(tab) {
    const pairs = STRATEGIES.map(({ name }) => [name, tab.counter(name, { strategy: name })]);
    return /** @type {Counters} */ (Object.fromEntries(pairs));
}
