/**
 * The object stores of the database. Keys are strings that are not part of the values (out-of-line keys), and
 * values are strings. A claim is the object { subject }, and its key is the name of its holder. The unique
 * index of the subjects aborts a transaction that adds a second holder of one subject (browser_world.hpp,
 * Transaction::claim).
 */

import { storeNames } from '../core/generated/enums/store.js';

export const claims = 'claims';
/** The store for the values of applications. They may be of any type. */
export const data = 'data';
export const subject = 'subject';

/**
 * Whether a store with one of our names has the shape that this file gives it.
 *
 * @param {IDBObjectStore} store
 */
export function storeFits(store) {
    if (store.keyPath !== null || store.autoIncrement) return false;
    if (store.name !== claims) return true;
    if (!store.indexNames.contains(subject)) return false;
    const index = store.index(subject);
    return index.unique && index.keyPath === subject;
}

/**
 * Whether the database has all our stores. Their shape is not checked, because only a transaction can see it.
 *
 * @param {IDBDatabase} connection
 */
export function isComplete(connection) {
    return storeNames.every((name) => connection.objectStoreNames.contains(name));
}

/**
 * Makes the stores of a database that is new or has another version.
 *
 * @param {IDBOpenDBRequest} request
 * @param {IDBVersionChangeEvent} event
 * @param {Pick<import('./clock.js').ClockHost, 'random32'> | undefined} random undefined if the disk is full, so that no
 *   row is written
 * @returns {string | undefined} for a new database, whether the browser has discarded the former one: `none` or
 *   another word. Only Chromium reports that
 */
export function upgrade({ result, transaction }, event, random) {
    const generation =
        random && random.random32().toString(36) + random.random32().toString(36).padStart(7, '0');
    createStores(result, /** @type {IDBTransaction} */ (transaction), generation);
    if (event.oldVersion > 0 || !random) return undefined; // not new, or reported already
    const { dataLoss = 'none' } = /** @type {{ dataLoss?: string }} */ (event);
    return String(dataLoss);
}

/**
 * Makes the stores that are missing. If a foreign store has one of our names, it is renamed and keeps its
 * records: no data is deleted.
 *
 * @param {IDBDatabase} connection
 * @param {IDBTransaction} upgrade
 * @param {string | undefined} generation if given, the generation of a new database. It is stored here, so
 *   that the first tab that commits need not store it
 */
function createStores(connection, upgrade, generation) {
    for (const name of storeNames) {
        if (connection.objectStoreNames.contains(name)) {
            const store = upgrade.objectStore(name);
            if (storeFits(store)) continue;
            store.name = `${name} (foreign, until version ${connection.version})`;
        }
        const store = connection.createObjectStore(name);
        if (name === claims) store.createIndex(subject, subject, { unique: true });
        if (name === 'meta' && generation) store.put(generation, 'generation');
    }
}
