/**
 * The object stores: string values under string keys that stand outside them. A claim is
 * { subject } under its holder's name; the index makes a second holder of one subject abort the
 * transaction (browser_world.hpp, Transaction::claim).
 */

import { storeNames } from '../core/generated/enums.js';

export const claims = 'claims';
/** What applications keep: any values, where all others are strings. */
export const data = 'data';
export const subject = 'subject';

/**
 * @param {IDBObjectStore} store
 */
function storeFits(store) {
    if (store.keyPath !== null || store.autoIncrement) return false;
    if (store.name !== claims) return true;
    if (!store.indexNames.contains(subject)) return false;
    const index = store.index(subject);
    return index.unique && index.keyPath === subject;
}

/**
 * Whether all our stores are there, in our shape.
 *
 * @param {IDBDatabase} connection
 */
export function fits(connection) {
    if (!storeNames.every((name) => connection.objectStoreNames.contains(name))) return false;
    const transaction = connection.transaction(storeNames, 'readonly');
    return storeNames.every((name) => storeFits(transaction.objectStore(name)));
}

/**
 * Makes what is missing. A stranger's store that has the name of one of ours keeps its records under
 * another name: nobody's data is deleted.
 *
 * @param {IDBDatabase} connection
 * @param {IDBTransaction} upgrade
 */
export function createStores(connection, upgrade) {
    for (const name of storeNames) {
        if (connection.objectStoreNames.contains(name)) {
            const store = upgrade.objectStore(name);
            if (storeFits(store)) continue;
            store.name = `${name} (foreign, until version ${connection.version})`;
        }
        const store = connection.createObjectStore(name);
        if (name === claims) store.createIndex(subject, subject, { unique: true });
    }
}
