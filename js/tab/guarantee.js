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

/** @typedef {typeof causes[number]} LossCause */

/** In the order of `enum class Fault` in wasm/include/tabacus/common/guarantee.hpp. */
const causes = /** @type {const} */ ([
    'concurrent updates',
    'tab killed',
    'tab frozen',
    'timers throttled',
    'page in the back/forward cache',
    'connection closed',
    'database lost',
    'site data cleared',
    'quota exceeded',
    'record corrupted',
    'browser crashed',
]);

/** @param {number[]} sets of faults, a bit for each, by storage model */
function byModel(sets) {
    const [mutexed, interleaved, cached] = sets.map((bits) =>
        Object.freeze(causes.filter((_, index) => bits & (1 << index))),
    );
    return Object.freeze({ mutexed, interleaved, cached });
}

/**
 * @param {string[]} fields in the order of Guarantee in wasm/include/tabacus/common/guarantee.hpp
 * @returns {Readonly<Guarantee>}
 */
export function guaranteeFrom([
    strategy,
    lost,
    readsWait,
    accuracy,
    rowsPerCounter,
    needs = '',
    durability,
    numbers = '',
]) {
    const [flushNeeded = 0, ...sets] = numbers.split(' ').map(Number).reverse();
    const all = {
        strategy,
        lost,
        losses: byModel(sets.reverse().slice(0, 3)),
        excesses: byModel(sets.slice(3)),
        flushNeeded: flushNeeded > 0,
        readsWait,
        accuracy,
        rowsPerCounter,
        needs: Object.freeze(needs.split(', ').filter(Boolean)),
        durability,
    };
    return Object.freeze(/** @type {Guarantee} */ (/** @type {unknown} */ (all)));
}

/** The losses of a relaxed counter in the database; a strict one survives a crash of the browser. */
const database = '1728 1728 1728 0 0 0';
const strictDatabase = '704 704 704 0 0 0';
const always = 2047;
const transaction = 'one transaction';

/**
 * The guarantees of the catalogue, which coordination.wasm declares too (a test compares them): a counter shows its
 * own before that program is loaded.
 *
 * @type {Record<string, string[]>}
 */
const stored = {
    naive: [
        'concurrent updates',
        'never',
        "other tabs' increments arrive late or never",
        'one key',
        'storage',
        `1664 ${always} ${always} 0 0 0 0`,
    ],
    log: [
        'the last updates of a process that dies',
        'never',
        "other tabs' increments arrive late",
        'a key per increment, then one per tab ever opened',
        'storage',
        '1664 1664 1682 0 0 0 0',
    ],
    lamport: [
        'concurrent updates of tabs in different processes, or of a slow tab',
        'never',
        "other tabs' increments arrive late or never",
        'one key, and two for its lock',
        'storage',
        `1664 ${always} ${always} 0 0 0 0`,
    ],
    eventual: [
        'concurrent updates that cross a read; unannounced updates with their tab',
        'never',
        "other tabs' increments arrive late, and seldom twice",
        'two keys for increments, two for decrements',
        'storage',
        `1664 ${always} ${always} 1664 ${always} ${always} 0`,
    ],
    transactional: ['never once added', transaction, 'exact when read', 'one', 'indexeddb', `${database} 0`],
    locked: [
        'concurrent updates of tabs in different processes',
        'never',
        "other tabs' increments arrive late or never",
        'one key',
        'storage, web-locks',
        `1664 1664 ${always} 0 0 0 0`,
    ],
    optimistic: ['never once added', transaction, 'exact when read', 'one', 'indexeddb', `${database} 0`],
    deltas: [
        'never once added',
        'one transaction, once in a threshold',
        "others' increments up to the threshold late",
        'one, and one per increment until it is folded',
        'indexeddb',
        `${database} 0`,
    ],
    batched: [
        "never once flushed; up to an interval's with their tab",
        transaction,
        "others' increments up to an interval late",
        'one, and one per delta until it is folded',
        'indexeddb',
        `${database} 1`,
    ],
};

/**
 * @param {string} strategy of the catalogue
 * @param {boolean} strict
 * @returns {Readonly<Guarantee>}
 */
export function storedGuarantee(strategy, strict) {
    const [lost, readsWait, accuracy, rows, needs, numbers] =
        /** @type {[string, string, string, string, string, string]} */ (stored[strategy]);
    const isStrict = strict && needs === 'indexeddb';
    const losses = isStrict ? numbers.replace(database, strictDatabase) : numbers;
    return guaranteeFrom([
        strategy,
        lost,
        readsWait,
        accuracy,
        rows,
        needs,
        isStrict ? 'strict' : 'relaxed',
        losses,
    ]);
}
