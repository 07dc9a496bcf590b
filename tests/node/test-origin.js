/** Origins of the emulator whose windows record errors, connections and transactions for tests of tabacus. */

import { after } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { settled, sleep, until } from './page-waits.js';

/** The origins of this process. A page of an open one would keep the process alive. @type {TestOrigin[]} */
const origins = [];
after(() => origins.forEach(({ emulated }) => emulated.close()));

/**
 * Makes an origin, which is closed after all tests of the file.
 *
 * @param {import('tabacus/emulator').CreateOriginOptions} [options]
 */
export async function testOrigin(options) {
    const origin = new TestOrigin(await createOrigin(options));
    origins.push(origin);
    return origin;
}

export class TestOrigin {
    /** The errors that no handler of a window has handled. @type {unknown[]} */
    errors = [];

    /** The connections that the windows have opened. @type {IDBDatabase[]} */
    connections = [];

    /** All transactions that the windows have begun. @type {any[]} */
    transactions = [];

    /** Is called with each `readwrite` transaction of a window when it is made. @type {(transaction: any) => void} */
    onWrite = () => {};

    /** Is called with each transaction of a window when it is made. @type {(transaction: any) => void} */
    onTransaction = () => {};

    #observer;

    /** @param {import('tabacus/emulator').Origin} emulated */
    constructor(emulated) {
        this.emulated = emulated;
        /** A window in which no tab of tabacus is opened. */
        this.#observer = emulated.openTab().window;
    }

    /**
     * The window of a new page.
     *
     * @param {object | ((window: any) => object)} [replaced] properties that replace those of the window, or a function
     *     that makes them from it; `{ indexedDB: undefined }` is a browser without IndexedDB
     * @returns {any}
     */
    window(replaced = {}) {
        const { window } = this.emulated.openTab();
        const { indexedDB } = window;
        const { open } = indexedDB;
        indexedDB.open = (/** @type {any[]} */ ...given) => {
            const request = open(...given);
            request.addEventListener('success', () => this.#watch(request.result));
            return request;
        };
        window.addEventListener('error', (/** @type {ErrorEvent} */ event) => {
            this.errors.push(event.error);
            event.preventDefault();
        });
        const values = typeof replaced === 'function' ? replaced(window) : replaced;
        for (const [name, value] of Object.entries(values))
            Object.defineProperty(window, name, { value, writable: true, configurable: true });
        return window;
    }

    /** @param {IDBDatabase} connection */
    #watch(connection) {
        this.connections.push(connection);
        const begin = connection.transaction;
        connection.transaction = (stores, mode, options) => {
            const transaction = begin(stores, mode, options);
            this.transactions.push(transaction);
            this.onTransaction(transaction);
            if (mode === 'readwrite') this.onWrite(transaction);
            return transaction;
        };
    }

    /** The page of a window. @param {any} window @returns {import('tabacus/emulator').Tab} */
    pageOf(window) {
        const page = this.emulated.tabs.find((tab) => tab.window === window);
        if (!page) throw new Error('the page of this window is closed');
        return page;
    }

    /** The localStorage of the origin. @returns {Storage} */
    get localStorage() {
        return this.#observer.localStorage;
    }

    /** The databases of the origin. @returns {IDBFactory} */
    get indexedDB() {
        return this.#observer.indexedDB;
    }

    get BroadcastChannel() {
        return this.#observer.BroadcastChannel;
    }

    /** Resolves to the names of the Web Locks that are held. @returns {Promise<string[]>} */
    async heldLocks() {
        const { held } = await this.#observer.navigator.locks.query();
        return held.map((/** @type {LockInfo} */ { name }) => name);
    }

    /** Resolves to the number of the requests for Web Locks that wait. @returns {Promise<number>} */
    async waitingLocks() {
        return (await this.#observer.navigator.locks.query()).pending.length;
    }

    /** Resolves after a time of the origin's clock. @param {number} delay_ms */
    sleep(delay_ms) {
        return sleep(this.#observer, delay_ms);
    }

    /** Waits until the condition holds. @param {() => boolean | Promise<boolean>} condition */
    until(condition) {
        return until(this.#observer, condition);
    }

    /**
     * Opens a connection that is not one of the package's.
     *
     * @param {string} name
     * @param {{ version?: number, upgrade?: (database: IDBDatabase) => void }} [options]
     * @returns {Promise<IDBDatabase>}
     */
    connect(name, { version, upgrade } = {}) {
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
