/**
 * The connection to the one IndexedDB database of a namespace. It must:
 * - be opened without a version, so that tabs of a later release, whose version may be higher, and
 *   tabs of this one share it;
 * - get out of the way: a connection that receives `versionchange` closes, so that no other tab's
 *   upgrade or deletion waits for it;
 * - come back: it is opened again by the next use after the connection was lost;
 * - leave no caller without an answer.
 */

import { attempt, isOpaque, storeFailure } from './failure.js';
import { createStores, isComplete } from './schema.js';

/**
 * How long an opening may take. Opening waits for the disk, and for tabs that have not closed a
 * connection in the way of an upgrade: seconds, on a machine that pages. After this the tab goes on
 * without; nothing depends on the clock beyond that, since a connection that comes later is closed.
 */
const openWait_ms = 30_000;

/** Why a database that has our name, and is not ours, is not used. */
export const foreignDatabase = 'a foreign database has the name';

/** @typedef {(connection: IDBDatabase | undefined, why: import('./failure.js').Failure) => void} Opened */

export class DatabaseConnection {
    #factory;
    #name;
    #host;
    #report;

    /** The connection, while it is open. @type {IDBDatabase | undefined} @protected */
    _connection;

    /**
     * The callers that wait for the opening that is under way, if one is.
     * @type {Opened[] | undefined}
     */
    #waiting;

    /**
     * Asks anew for the opening that is under way.
     * @type {(() => void) | undefined}
     */
    #openAnew;

    /** See keepOpenDuring(). */
    #kept = false;
    #closeLater = false;

    #disposed = false;

    /** Whether there is one; it may refuse to open all the same. */
    available;

    /** Whether it refuses every call: the user blocks site data. */
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
     * Opens it, so that it is open when the first transaction begins.
     * @returns {Promise<void>} when it is open, or refused to
     */
    ready() {
        return new Promise((resolve) => this.use(() => resolve()));
    }

    /**
     * Settles when it is open, at once where it is.
     * @param {number} operation
     */
    open(operation) {
        this.use((connection, why) =>
            connection ? this.#report.settled(operation) : this.#report.failed(operation, ...why),
        );
    }

    /** @param {Opened} opened called at once where the connection is open */
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
     * Runs `call`, and delays a close of the connection until it returns. When the page is left the replica asks
     * for the close, but the last commits of queues and limits must begin first.
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

    /** Lets the connection go once the transactions under way have ended. */
    close() {
        this.#closeLater = this.#kept;
        if (this.#kept) return;
        const connection = this._connection;
        this._connection = undefined;
        connection?.close();
    }

    /** The page is back. An opening that was under way when it left is asked for anew. */
    returned() {
        this.#openAnew?.();
    }

    /** Closes it, and whatever opens after this. */
    dispose() {
        this.#disposed = true;
        this.close();
    }

    /**
     * A connection has opened, whose stores may have another shape than those before.
     * @protected
     */
    _connected() {}

    /**
     * No more events will come for what was under way on the connection.
     * @protected
     */
    _disconnected() {}

    /** The connection is not used any more. @param {IDBDatabase} connection @protected */
    _drop(connection) {
        if (this._connection !== connection) return;
        this._connection = undefined;
        this.#report.databaseClosed();
    }

    /**
     * Opens a stranger's database of our name anew, to add what is missing and touch nothing else.
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
     * @param {number | undefined} version nothing for whatever version it has
     * @param {boolean} [full] whether there was no room for a row, so that an upgrade puts none
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
                // The error is an AbortError, whatever the reason was, such as the quota.
                if (upgrading && !full) openAnew(true);
                else finish(undefined, storeFailure(request.error));
            };
        } catch (error) {
            finish(undefined, storeFailure(error));
        }
    }

    /**
     * @param {IDBOpenDBRequest} request
     * @param {IDBVersionChangeEvent} event
     * @param {boolean} full
     */
    #upgrade({ result, transaction }, event, full) {
        const { clock } = this.#host;
        const [high, low] = [clock.random32().toString(36), clock.random32().toString(36)];
        const generation = full ? undefined : high + low.padStart(7, '0');
        createStores(result, /** @type {IDBTransaction} */ (transaction), generation);
        if (event.oldVersion > 0 || full) return; // or was reported
        // Chromium's own: it may have thrown a database away, and reports it only here.
        const { dataLoss = 'none' } = /** @type {{ dataLoss?: string }} */ (event);
        this.#report.databaseCreated(String(dataLoss));
    }

    /**
     * @param {IDBDatabase | undefined} connection
     * @param {import('./failure.js').Failure} why
     * @param {boolean} upgraded
     * @returns {void}
     */
    #opened(connection, why, upgraded) {
        if (connection && !isComplete(connection)) {
            // A stranger's, as in _upgradeForeign(): it is upgraded once.
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
        // Before the callbacks: one that is refused may ask again at once, and then waits for a new opening.
        this.#waiting = undefined;
        for (const opened of waiting) opened(connection, why);
    }

    /** @param {IDBDatabase} connection */
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
