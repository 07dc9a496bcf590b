/**
 * The work of transactions beside the schedule, during which time stands still. While transactions are not answered,
 * time passes for them and for those that wait for them, and for no others: so the schedule of a run does not depend on
 * how fast the host is.
 */

/** @typedef {{ stop: () => void, passes: boolean, begin: () => () => void }} Work */

/** @type {WeakMap<object, Work>} */
const works = new WeakMap();

/** The transactions that are not answered, by their databases. @type {WeakMap<object, Set<object>>} */
const held = new WeakMap();

/** @type {ReadonlySet<object>} */
const none = new Set();

/** @param {any} transaction @returns {ReadonlySet<object>} */
const heldOf = ({ db: { _rawDatabase: raw } }) => held.get(raw) ?? none;

/**
 * Begins the work of a transaction.
 *
 * @param {any} transaction
 * @param {() => () => void} begin begins work beside the schedule, and returns a function that ends it
 * @returns {() => void} ends the work
 */
export function beginTransactionWork(transaction, begin) {
    const work = { stop: begin(), passes: false, begin };
    works.set(transaction, work);
    if (heldOf(transaction).size > 0) arrange(transaction);
    return () => {
        works.delete(transaction);
        work.stop();
        if (heldOf(transaction).size > 0) setHeld(transaction, false);
    };
}

/** Lets time pass although a transaction is not answered, or ends that. @param {any} transaction @param {boolean} on */
export function setHeld(transaction, on) {
    const { _rawDatabase: raw } = transaction.db;
    const all = held.get(raw) ?? new Set();
    held.set(raw, all);
    if (on) all.add(transaction);
    else all.delete(transaction);
    arrange(transaction);
}

/**
 * Lets time pass for the transactions of a database that wait for one that is not answered.
 *
 * @param {any} transaction one of them
 */
function arrange({ db: { _rawDatabase: raw } }) {
    const all = held.get(raw) ?? none;
    /** @type {any[]} */
    const waiting = [];
    for (const one of raw.transactions) {
        const work = works.get(one);
        if (!work) continue;
        const passes = all.has(one) || waiting.some((before) => excludes(before, one));
        if (passes) waiting.push(one);
        if (passes === work.passes) continue;
        work.passes = passes;
        if (passes) work.stop();
        else work.stop = work.begin();
    }
}

/** Whether a transaction waits for an earlier one (IndexedDB §2.7.1). @param {any} before @param {any} one */
function excludes(before, one) {
    if (before.mode === 'readonly' && one.mode === 'readonly') return false;
    return [...one._scope].some((store) => before._scope.has(store));
}
