/**
 * The connection to the IndexedDB database of a namespace. It follows four rules:
 * - It is opened without a version. So tabs of this release can share it with tabs of a later release, which
 *   may have raised the version.
 * - It closes when it receives `versionchange`, so that no upgrade or deletion by another tab waits for it.
 * - After it was lost, the next use opens it again.
 * - Every caller gets an answer.
 */

import { attempt, isOpaque, storeFailure } from './failure.js';
import { createStores, isComplete } from './schema.js';

/**
 * The longest time that an opening may take. Opening waits for the disk, and for other tabs to close the
 * connections that block an upgrade; on a machine that is short of memory this takes seconds. After this time
 * the tab goes on without a database. The limit affects nothing else, because a connection that opens later
 * is closed.
 */
const openWait_ms = 30_000;

/** The message for a database that has our name, but was made by other code. */
export const foreignDatabase = 'a foreign database has the name';

/** @typedef {(connection: IDBDatabase | undefined, why: import('./failure.js').Failure) => void} Opened */

/** Opens the connection, keeps it, and reports when it is lost. */
export class DatabaseConnection {
    #factory;
    #name;
    #host;
    #report;

    /** The connection, while it is open. @type {IDBDatabase | undefined} @protected */
    _connection;

    /**
     * The callers that wait for a pending opening; undefined if none is pending.
     * @type {Opened[] | undefined}
     */
    #waiting;

    /**
     * Repeats the request of a pending opening.
     * @type {(() => void) | undefined}
     */
    #openAnew;

    /** Whether keepOpenDuring() runs. */
    #kept = false;

    /** Whether close() was called meanwhile. */
    #closeLater = false;

    #disposed = false;

    /** Whether the platform has IndexedDB. The database may refuse to open all the same. */
    available;

    /** Whether IndexedDB refuses every call, because the user blocks site data. */
    refused = false;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {string} namespace
     * @param {Pick<import('./host.js').Host, 'clock'>} host
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, namespace, host, report) {
        this.#factory = isOpaque(platform) ? undefined : attempt(() => platform.indexedDB);
        this.available = this.#factory !== undefined;
        this.#name = `tabacus/${encodeURIComponent(namespace)}`;
        this.#host = host;
        this.#report = report;
    }

    /**
     * Opens the connection ahead of the first transaction.
     * @returns {Promise<void>} resolves when it is open, or has refused to open
     */
    ready() {
        return new Promise((resolve) => this.use(() => resolve()));
    }

    /**
     * Settles the operation when the connection is open.
     * @param {number} operation
     */
    open(operation) {
        this.use((connection, why) =>
            connection ? this.#report.settled(operation) : this.#report.failed(operation, ...why),
        );
    }

    /**
     * Opens the connection, unless it is open, and calls `opened` with it or with a failure.
     *
     * @param {Opened} opened called before this returns if the connection is open
     */
    use(opened) {
        if (this._connection) {
            opened(this._connection, ['store-failed', '']);
        } else if (this.#waiting) {
            this.#waiting.push(opened);
        } else {
            this.#waiting = [opened];
            this.#request(undefined);
        }
    }

    /**
     * Runs `call`, and delays a close of the connection until it returns. When the page is left, the replica
     * closes the connection, but queues and limits must begin their last commits before that.
     *
     * @param {() => void} call
     */
    keepOpenDuring(call) {
        const outer = this.#kept;
        this.#kept = true;
        call();
        this.#kept = outer;
        if (this.#closeLater && !outer) this.close();
    }

    /** Closes the connection. The browser does so once the pending transactions have ended. */
    close() {
        this.#closeLater = this.#kept;
        if (this.#kept) return;
        const connection = this._connection;
        this._connection = undefined;
        connection?.close();
    }

    /**
     * Repeats a pending opening, since the browser forgets it while the page is in the back/forward cache.
     */
    returned() {
        this.#openAnew?.();
    }

    /** Closes the connection, and every connection that opens after this. */
    dispose() {
        this.#disposed = true;
        this.close();
    }

    /**
     * Called when a connection has opened. The stores of its database may have another shape than before.
     * @protected
     */
    _connected() {}

    /**
     * Called when the connection was lost: its transactions get no more events.
     * @protected
     */
    _disconnected() {}

    /** Forgets a connection that is closed. @param {IDBDatabase} connection @protected */
    _drop(connection) {
        if (this._connection !== connection) return;
        this._connection = undefined;
        this.#report.databaseClosed();
    }

    /**
     * Upgrades a foreign database that has our name: adds the stores that are missing, and changes no record.
     * @param {IDBDatabase} connection
     * @protected
     */
    _upgradeForeign(connection) {
        this._connection = undefined;
        connection.close();
        this.#waiting = [];
        this.#request(connection.version + 1);
    }

    /**
     * Requests the connection.
     *
     * @param {number | undefined} version undefined for the version that the database has
     * @param {boolean} [full] whether an upgrade writes no row, because the disk is full
     */
    #request(version, full = false) {
        let over = false;
        let upgrading = false;
        /**
         * @param {IDBDatabase | undefined} connection
         * @param {import('./failure.js').Failure} [why]
         */
        const finish = (connection, why = ['store-failed', 'the database does not open']) => {
            if (over) return connection?.close();
            over = true;
            stopWaiting();
            this.#opened(connection, why, version !== undefined);
        };
        const openAnew = (/** @type {boolean} */ full) => {
            if (over) return;
            over = true;
            stopWaiting();
            this.#request(version, full);
        };
        this.#openAnew = () => openAnew(full);
        const stopWaiting = this.#host.clock.after(openWait_ms, () =>
            finish(undefined, ['store-failed', `the database did not open within ${openWait_ms} ms`]),
        );
        try {
            const request = /** @type {IDBFactory} */ (this.#factory).open(this.#name, version);
            request.onupgradeneeded = (event) => {
                upgrading = true;
                this.#upgrade(request, event, full);
            };
            request.onsuccess = () => finish(request.result);
            request.onerror = (event) => {
                event.preventDefault();
                // The error of a failed upgrade is always an AbortError. The reason may be a full disk: so
                // the upgrade is repeated without a row.
                if (upgrading && !full) openAnew(true);
                else finish(undefined, storeFailure(request.error));
            };
        } catch (error) {
            finish(undefined, storeFailure(error));
        }
    }

    /**
     * Makes the stores, and reports a new database.
     *
     * @param {IDBOpenDBRequest} request
     * @param {IDBVersionChangeEvent} event
     * @param {boolean} full whether no row is written
     */
    #upgrade({ result, transaction }, event, full) {
        const { clock } = this.#host;
        const [high, low] = [clock.random32().toString(36), clock.random32().toString(36)];
        const generation = full ? undefined : high + low.padStart(7, '0');
        createStores(result, /** @type {IDBTransaction} */ (transaction), generation);
        if (event.oldVersion > 0 || full) return; // not new, or reported already
        // A property of Chromium alone, which may have discarded a database, and reports that only here.
        const { dataLoss = 'none' } = /** @type {{ dataLoss?: string }} */ (event);
        this.#report.databaseCreated(String(dataLoss));
    }

    /**
     * Ends an opening: keeps the connection, and answers the callers.
     *
     * @param {IDBDatabase | undefined} connection
     * @param {import('./failure.js').Failure} why
     * @param {boolean} upgraded whether the opening has upgraded the database
     * @returns {void}
     */
    #opened(connection, why, upgraded) {
        if (connection && !isComplete(connection)) {
            // This is a foreign database, as in _upgradeForeign(). It is upgraded once.
            connection.close();
            if (!upgraded) return this.#request(connection.version + 1);
            [connection, why] = [undefined, ['store-failed', foreignDatabase]];
        }
        this.refused = !connection && why[1].startsWith('SecurityError');
        if (connection && this.#disposed) {
            connection.close();
            connection = undefined;
        }
        if (connection) this.#keep(connection);
        const waiting = this.#waiting ?? [];
        // This precedes the callbacks, since one that gets a failure may call use() again, and waits for a
        // new opening.
        this.#waiting = undefined;
        for (const opened of waiting) opened(connection, why);
    }

    /** Keeps a connection, and listens for its end. @param {IDBDatabase} connection */
    #keep(connection) {
        this._connection = connection;
        this._connected();
        connection.onversionchange = () => {
            connection.close();
            this._drop(connection);
        };
        connection.onclose = () => {
            this._disconnected();
            this._drop(connection);
        };
    }
}
