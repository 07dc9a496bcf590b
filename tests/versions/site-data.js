/** Converts everything that an origin stores, localStorage and every IndexedDB database, to JSON and back. */

import { isDeepStrictEqual, inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';

/** @typedef {{ name: string, keyPath: string | string[], unique: boolean, multiEntry: boolean }} StoredIndex */

/**
 * @typedef {object} StoredStore
 * @property {string} name
 * @property {string | string[] | null} keyPath
 * @property {boolean} autoIncrement
 * @property {StoredIndex[]} indexes
 * @property {[key: IDBValidKey, value: unknown][]} rows in the order of their keys; values as encode() returns them
 */

/** @typedef {{ name: string, version: number, stores: StoredStore[] }} StoredDatabase */
/** @typedef {{ localStorage: Record<string, string>, databases: StoredDatabase[] }} SiteData */

/**
 * A value as JSON. If JSON does not keep it as it is, this is its structured clone, as Node serialises it, in base64,
 * with a description for readers.
 *
 * @param {unknown} value
 */
export function encode(value) {
    const text = JSON.stringify(value);
    if (text !== undefined && isDeepStrictEqual(JSON.parse(text), value)) return value;
    const shown = inspect(value, { depth: Infinity, breakLength: Infinity });
    return { clone: serialize(value).toString('base64'), shown };
}

/** @param {any} encoded */
export const decode = (encoded) =>
    isDeepStrictEqual(Object.keys(Object(encoded)), ['clone', 'shown'])
        ? deserialize(Buffer.from(encoded.clone, 'base64'))
        : encoded;

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const resultOf = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @param {IDBObjectStore} store @returns {Promise<StoredStore>} */
async function storeData(store) {
    const { name, keyPath, autoIncrement } = store;
    const indexes = [...store.indexNames].map((index) => {
        const { name, keyPath, unique, multiEntry } = store.index(index);
        return { name, keyPath, unique, multiEntry };
    });
    const [keys, values] = await Promise.all([resultOf(store.getAllKeys()), resultOf(store.getAll())]);
    const rows = keys.map((key, at) => /** @type {[IDBValidKey, unknown]} */ ([key, encode(values[at])]));
    return { name, keyPath, autoIncrement, indexes, rows };
}

/**
 * Reads everything that the origin of a window stores.
 *
 * @param {any} window
 * @returns {Promise<SiteData>}
 */
export async function readSiteData({ indexedDB, localStorage }) {
    const databases = [];
    for (const { name, version } of await indexedDB.databases()) {
        /** @type {IDBDatabase} */
        const database = await resultOf(indexedDB.open(name));
        const names = [...database.objectStoreNames];
        const transaction = database.transaction(names, 'readonly');
        const stores = await Promise.all(names.map((store) => storeData(transaction.objectStore(store))));
        databases.push({ name, version, stores });
        database.close();
    }
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at)).sort();
    return {
        localStorage: Object.fromEntries(keys.map((key) => [key, localStorage.getItem(key)])),
        databases,
    };
}

/**
 * Stores the data in the origin of a window. Requires that the origin stores nothing.
 *
 * @param {any} window
 * @param {SiteData} data
 */
export async function writeSiteData({ indexedDB, localStorage }, data) {
    for (const [key, value] of Object.entries(data.localStorage)) localStorage.setItem(key, value);
    for (const { name, version, stores } of data.databases) {
        const request = indexedDB.open(name, version);
        request.onupgradeneeded = () => {
            for (const stored of stores) addStore(request.result, stored);
        };
        (await resultOf(request)).close();
    }
}

/** @param {IDBDatabase} database @param {StoredStore} stored */
function addStore(database, { name, keyPath, autoIncrement, indexes, rows }) {
    const store = database.createObjectStore(name, { keyPath, autoIncrement });
    for (const { name: index, keyPath: path, unique, multiEntry } of indexes)
        store.createIndex(index, path, { unique, multiEntry });
    for (const [key, value] of rows) store.put(decode(value), key);
}
