/** How transactions of IndexedDB end, and whether what they have read is equal. */

import { isDeath, storeFailure } from './failure.js';

/** Aborts a transaction. Returns false if it had ended. @param {IDBTransaction} transaction @returns {boolean} */
export function abortIfPossible(transaction) {
    try {
        transaction.abort();
        return true;
    } catch {
        return false;
    }
}

/**
 * Whether an exception of a request means that the transaction has ended. An event reports how it ended.
 *
 * @param {unknown} error
 */
export const isInactive = (error) =>
    ['TransactionInactiveError', 'InvalidStateError'].includes(
        String(/** @type {Partial<DOMException>} */ (error)?.name),
    );

/**
 * Whether two answers are equal. Objects that are no plain data, such as a Blob, count as different.
 *
 * @param {any} a
 * @param {any} b
 * @returns {boolean}
 */
export function isEqual(a, b) {
    if (Object.is(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
    const kind = kindOf(a);
    if (kind !== kindOf(b)) return false;
    if (kind === 'Date') return Object.is(a.getTime(), b.getTime());
    if (kind === 'Map' || kind === 'Set') return isEqual([...a], [...b]);
    const keys = Object.keys(a);
    return (
        ['Array', 'Object'].includes(kind) &&
        keys.length === Object.keys(b).length &&
        keys.every((key) => key in b && isEqual(a[key], b[key]))
    );
}

/** @param {object} value */
const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/**
 * Returns why the browser aborted a transaction. Returns nothing for an error that does not state the reason: the
 * connection is dead, or another request had failed.
 *
 * @param {{ name: string, message: string } | null} error
 * @returns {import('./failure.js').Failure | undefined}
 */
export function abortionOf(error) {
    if (error?.name === 'ConstraintError') return ['fenced', 'another holder has the claim'];
    return isDeath(error) ? undefined : storeFailure(error);
}

/**
 * Makes the next transaction accept writes again after one that exceeded the quota. Firefox (153, measured)
 * refuses every put() of the transaction that follows, and only of that one: so an empty one is made here.
 * (Of the other engines whose transactions commit by themselves, none needs this.)
 *
 * @param {IDBTransaction} failed
 */
export function allowWrites({ db, objectStoreNames }) {
    try {
        db.transaction([...objectStoreNames], 'readwrite').abort();
    } catch {
        // The connection is closed.
    }
}
