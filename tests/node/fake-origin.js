/**
 * An origin in one process. Its tabs are objects for open({ window }), with the database of fake-indexeddb, the
 * BroadcastChannel of Node, and a lock manager and a localStorage of a few lines.
 */

import { IDBFactory, IDBKeyRange, forceCloseDatabase } from 'fake-indexeddb';
import { randomUUID, webcrypto } from 'node:crypto';

/** A lock manager for exclusive locks: the part of W3C Web Locks §4 that a tab uses. */
class FakeLocks {
    /** @type {Map<string, { grant: () => void, steal: () => void }[]>} */
    #queues = new Map();

    /**
     * @param {string} name
     * @param {{ ifAvailable?: boolean, steal?: boolean, signal?: AbortSignal }} options
     * @param {(lock: object | null) => unknown} callback
     */
    request(name, { ifAvailable, steal, signal }, callback) {
        const queue = this.#queues.get(name) ?? [];
        this.#queues.set(name, queue);
        if (ifAvailable && queue.length > 0) return Promise.resolve().then(() => callback(null));
        return new Promise((resolve, reject) => {
            const leave = () => {
                const position = queue.indexOf(entry);
                if (position < 0) return;
                queue.splice(position, 1);
                if (position === 0) queue[0]?.grant();
            };
            const entry = {
                grant: () =>
                    void Promise.resolve()
                        .then(() => callback({ name, mode: 'exclusive' }))
                        .then(resolve, reject)
                        .finally(leave),
                steal: () => {
                    reject(new DOMException('stolen', 'AbortError'));
                    queue.splice(queue.indexOf(entry), 1);
                },
            };
            signal?.addEventListener('abort', () => {
                if (queue.indexOf(entry) > 0) {
                    leave();
                    reject(signal.reason);
                }
            });
            if (steal) {
                queue[0]?.steal();
                queue.unshift(entry);
            } else {
                queue.push(entry);
            }
            if (queue[0] === entry) entry.grant();
        });
    }

    query() {
        return Promise.resolve({ held: [], pending: [] });
    }

    /** The names of all held locks. */
    held() {
        return [...this.#queues].filter(([, queue]) => queue.length > 0).map(([name]) => name);
    }
}

/** One tab's localStorage, on the common area of the origin. Its changes fire events in the other tabs. */
class FakeStorage {
    #origin;
    #tab;

    /**
     * @param {FakeOrigin} origin
     * @param {EventTarget} tab
     */
    constructor(origin, tab) {
        this.#origin = origin;
        this.#tab = tab;
    }

    get length() {
        return this.#origin.area.size;
    }

    /** @param {number} index */
    key(index) {
        return [...this.#origin.area.keys()][index] ?? null;
    }

    /** @param {string} key */
    getItem(key) {
        return this.#origin.area.get(key) ?? null;
    }

    /**
     * @param {string} key
     * @param {string} value
     */
    setItem(key, value) {
        if (this.#origin.storageFull) throw new DOMException('full', 'QuotaExceededError');
        const oldValue = this.getItem(key);
        this.#origin.area.set(key, value);
        this.#notify(key, oldValue, value);
    }

    /** @param {string} key */
    removeItem(key) {
        const oldValue = this.getItem(key);
        this.#origin.area.delete(key);
        this.#notify(key, oldValue, null);
    }

    /**
     * @param {string} key
     * @param {string | null} oldValue
     * @param {string | null} newValue
     */
    #notify(key, oldValue, newValue) {
        if (oldValue === newValue) return;
        for (const tab of this.#origin.tabs) {
            if (tab === this.#tab) continue;
            setImmediate(() =>
                tab.dispatchEvent(Object.assign(new Event('storage'), { key, oldValue, newValue })),
            );
        }
    }
}

/** A window for open({ window }). `page()` fires its page events, and `errors` has the errors that it was given. */
class FakeWindow extends EventTarget {
    document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    IDBKeyRange = IDBKeyRange;
    crypto = webcrypto;
    Date = Date;
    setTimeout = setTimeout;
    clearTimeout = clearTimeout;

    /** The errors that a browser would report as `error` events of the window. @type {unknown[]} */
    errors = [];

    /** @param {FakeOrigin} origin */
    constructor(origin) {
        super();
        this.indexedDB = origin.indexedDB;
        this.localStorage = new FakeStorage(origin, this);
        this.navigator = { locks: origin.locks };
        this.BroadcastChannel = origin.BroadcastChannel;
        /** @param {unknown} error */
        this.reportError = (error) => void this.errors.push(error);
    }

    /** @param {'pagehide' | 'pageshow'} type */
    page(type) {
        this.dispatchEvent(Object.assign(new Event(type), { persisted: true }));
    }
}

export class FakeOrigin {
    indexedDB = watched(new IDBFactory(), this);
    locks = new FakeLocks();

    /** @type {Map<string, string>} */
    area = new Map();

    /** @type {FakeWindow[]} */
    tabs = [];

    /** Open connections to databases. @type {IDBDatabase[]} */
    connections = [];

    /** All transactions that were begun since the origin was made. @type {any[]} */
    transactions = [];

    /** Whether localStorage is full. */
    storageFull = false;

    /** Called with each `readwrite` transaction when it is made. @type {(transaction: any) => void} */
    onWrite = () => {};

    constructor() {
        const prefix = randomUUID();
        this.BroadcastChannel = class extends BroadcastChannel {
            /** @param {string} name */
            constructor(name) {
                super(prefix + name);
            }
        };
    }

    /**
     * A new tab.
     * @param {object} [without] properties that replace those of the window; `{ indexedDB: undefined }` is a browser
     *     without IndexedDB
     */
    window(without = {}) {
        const tab = Object.assign(new FakeWindow(this), without);
        this.tabs.push(tab);
        return tab;
    }

    /**
     * Aborts open transactions and closes every connection with `close`, as a browser does when site data is
     * cleared.
     */
    dropConnections() {
        for (const transaction of this.transactions) {
            if (transaction._state !== 'finished') transaction._abort('AbortError');
        }
        for (const connection of this.connections.splice(0))
            forceCloseDatabase(/** @type {any} */ (connection));
    }

    /**
     * Opens a connection that is not one of the package's.
     *
     * @param {string} name
     * @param {{ version?: number, upgrade?: (database: IDBDatabase) => void }} [options]
     * @returns {Promise<IDBDatabase>}
     */
    async connect(name, { version, upgrade } = {}) {
        const request = this.indexedDB.open(name, version);
        request.onupgradeneeded = () => upgrade?.(request.result);
        return settled(request);
    }

    /**
     * Makes one request on a namespace's database over a connection that is not one of the package's.
     *
     * @template T
     * @param {string} namespace
     * @param {string} store
     * @param {(store: IDBObjectStore) => IDBRequest<T>} use
     */
    async records(namespace, store, use) {
        const connection = await this.connect(`tabacus/${namespace}`);
        const result = await settled(use(connection.transaction(store, 'readwrite').objectStore(store)));
        connection.close();
        return result;
    }
}

/**
 * @param {IDBFactory} factory
 * @param {FakeOrigin} origin
 */
function watched(factory, origin) {
    const open = factory.open.bind(factory);
    factory.open = (name, version) => {
        const request = open(name, version);
        request.addEventListener('success', () => watch(request.result, origin));
        return request;
    };
    return factory;
}

/**
 * @param {IDBDatabase} connection
 * @param {FakeOrigin} origin
 */
function watch(connection, origin) {
    origin.connections.push(connection);
    const begin = connection.transaction.bind(connection);
    connection.transaction = (stores, mode, options) => {
        const transaction = begin(stores, mode, options);
        origin.transactions.push(transaction);
        if (mode === 'readwrite') origin.onWrite(transaction);
        return transaction;
    };
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export const settled = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/**
 * The details of the events of a type that are dispatched from this call on, in a list that grows.
 *
 * @param {EventTarget} target
 * @param {string} type
 */
export function details(target, type) {
    /** @type {any[]} */
    const seen = [];
    target.addEventListener(type, (event) => seen.push(/** @type {CustomEvent} */ (event).detail));
    return seen;
}

/**
 * Waits until the condition holds, turn by turn. The limit is the time-out of the test runner.
 * @param {() => boolean} condition
 */
export async function until(condition) {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
