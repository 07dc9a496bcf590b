/**
 * The strategies of the race, with descriptions for the page. The package does the counting.
 */

/**
 * @typedef {'replicated' | 'batched' | 'transactional' | 'optimistic' | 'deltas' | 'log' | 'eventual'
 *   | 'lamport' | 'locked' | 'naive'} StrategyName
 * @typedef {object} Strategy
 * @property {StrategyName} name
 * @property {string} tag
 * @property {string} what
 * @property {Partial<import('../js/index.js').CounterOptions>} [options]
 * @property {number} [adds_max]  how often a tab adds in one race, at most
 */

/** @type {readonly Strategy[]} */
export const STRATEGIES = Object.freeze([
    {
        name: 'replicated',
        tag: 'the default',
        what: 'Each tab adds to a total of its own at once, and saves it in a row of its own. The value is the sum of the rows.',
    },
    {
        name: 'batched',
        tag: 'exact once flushed',
        what: 'Increments gather in memory, and are written as one delta four times a second. A tab that dies takes the last of them with it.',
        options: { interval: 250 },
    },
    {
        name: 'transactional',
        tag: 'exact, slow',
        what: 'One IndexedDB transaction for every increment. The store itself puts them in a row.',
    },
    {
        name: 'optimistic',
        tag: 'exact, slow',
        what: 'Value and version are read, and written only if the version still is the one read. The loser tries again, with all that has gathered.',
    },
    {
        name: 'deltas',
        tag: 'exact, slow',
        what: 'Every increment is a row of its own. A reader sums them, now and then, and folds them into one.',
        options: { threshold: 100 },
    },
    {
        name: 'log',
        tag: 'exact, bulky',
        what: 'Every increment is a key of its own in localStorage, so that nothing is overwritten. It fills up: a tab adds a thousand here, and stops.',
        // localStorage holds about 50,000 such keys, and open tabs keep theirs.
        adds_max: 1000,
    },
    {
        name: 'eventual',
        tag: 'nearly',
        what: 'Each tab adds what it receives from the others in storage events to what it read once, and writes the larger total back.',
    },
    {
        name: 'lamport',
        tag: 'a textbook lock',
        what: 'Lamport’s fast mutex, over two keys of localStorage. It presumes that all see a write at once; a process of a browser reads its own copy.',
        options: { delay: 20, backOff: 5, forceAfter: 2000 },
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
/** @typedef {import('../js/index.js').Counter} Counter */
/** @typedef {Record<StrategyName, Counter>} Counters */

/** @param {string} name */
export const addsMaxOf = (name) => STRATEGIES.find((one) => one.name === name)?.adds_max ?? Infinity;

/**
 * Opens a counter of each strategy, named after it.
 *
 * @param {Tab} tab
 * @returns {Counters}
 */
export function openCounters(tab) {
    const pairs = STRATEGIES.map(({ name, options }) => [
        name,
        tab.counter(name, { strategy: name, ...options }),
    ]);
    return /** @type {Counters} */ (Object.fromEntries(pairs));
}
