import { attempt, isOpaque, storeFailure } from './failure.js';
import { isFirefox, isWebKit } from './browser-engine.js';
import { createStores, isComplete, storeFits } from './schema.js';
import { TransactionHost } from './transaction.js';

/**
 * The one IndexedDB database of a namespace. It must:
 * - be opened without a version, so that tabs of a later release, whose version may be higher, and
 *   tabs of this one share it;
 * - get out of the way: a connection that receives `versionchange` closes, so that no other tab's
 *   upgrade or deletion waits for it;
 * - come back: it is opened again by the next transaction after the connection was lost;
 * - leave no operation without an answer.
 */

/**
 * How long an opening may take. Opening waits for the disk, and for tabs that have not closed a
 * connection in the way of an upgrade: seconds, on a machine that pages. After this the tab goes on
 * without; nothing depends on the clock beyond that, since a connection that comes later is closed.
 */
const openWait_ms = 30_000;

/** Thrown where a store has one of our names and not our shape. */
const foreign = new Error('a foreign database has the name');

/** @typedef {{ scope: string[], access: 'readonly' | 'readwrite', durability: 'relaxed' | 'strict' }} TransactionOptions */

/** @typedef {(connection: IDBDatabase | undefined, why: import('./failure.js').Failure) => void} Opened */

export class DatabaseHost {
    #factory;
    #keyRange;
    #name;
    #host;
    #report;

    /** See Committing. @type {() => import('./transaction.js').Committing} */
    #committing;

    /** @type {IDBDatabase | undefined} */
    #connection;

    /**
     * The callers that wait for the opening that is under way, if one is.
     * @type {Opened[] | undefined}
     */
    #waiting;

    /**
     * Those that the core holds, by the operation that began them.
     * @type {Map<number, TransactionHost>}
     */
    #transactions = new Map();

    /**
     * Asks anew for the opening that is under way.
     * @type {(() => void) | undefined}
     */
    #openAnew;

    /**
     * The stores of the connection whose shape was seen to be ours.
     * @type {Set<string>}
     */
    #fitting = new Set();

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
     * @param {Pick<import('./host.js').Host, 'clock' | 'values' | 'lifecycle'>} host
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, namespace, host, report) {
        this.#factory = isOpaque(platform) ? undefined : attempt(() => platform.indexedDB);
        this.available = this.#factory !== undefined;
        this.#keyRange = attempt(() => platform.IDBKeyRange);
        this.#name = `tabacus/${encodeURIComponent(namespace)}`;
        this.#host = host;
        this.#report = report;
        const careless = isFirefox(platform);
        const alone = isWebKit(platform) && !platform.document;
        this.#committing = () =>
            host.lifecycle.going ? 'with care' : careless || alone ? 'by itself' : 'at once';
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

    /** @param {number} id */
    transaction(id) {
        return this.#transactions.get(id);
    }

    /**
     * The core is done with it: aborted, if no commit was asked for.
     * @param {number} id
     */
    forget(id) {
        this.#transactions.get(id)?.end();
        this.#transactions.delete(id);
    }

    /**
     * Settles when transaction(operation) is there, at once where the connection is open.
     *
     * @param {number} operation
     * @param {TransactionOptions} options
     * @param {boolean} [again] whether a connection that turns out dead, or a stranger's, may be opened anew
     */
    begin(operation, options, again = true) {
        this.use((connection, why) => {
            if (!connection) {
                this.#report.failed(operation, ...why);
                return;
            }
            try {
                this.#transactions.set(operation, this.#transaction(connection, options));
            } catch (error) {
                // Closed under us without an event, or its stores are gone, or have another shape.
                if (again && error === foreign) this.#upgradeForeign(connection);
                else this.#drop(connection);
                if (again) this.begin(operation, options, false);
                else this.#report.failed(operation, ...storeFailure(error));
                return;
            }
            this.#report.settled(operation);
        });
    }

    /**
     * @param {IDBDatabase} connection
     * @param {TransactionOptions} options
     */
    #transaction(connection, { scope, access, durability }) {
        const transaction = connection.transaction(scope, access, { durability });
        for (const name of scope) {
            if (this.#fitting.has(name)) continue;
            if (!storeFits(transaction.objectStore(name))) throw foreign;
            this.#fitting.add(name);
        }
        const keyRange = /** @type {typeof IDBKeyRange} */ (this.#keyRange);
        return new TransactionHost(
            transaction,
            keyRange,
            this.#host.values,
            this.#committing(),
            this.#report,
        );
    }

    /**
     * Opens a stranger's database of our name anew, to add what is missing and touch nothing else.
     * @param {IDBDatabase} connection
     */
    #upgradeForeign(connection) {
        this.#connection = undefined;
        connection.close();
        this.#waiting = [];
        this.#request(connection.version + 1);
    }

    /**
     * Runs `call`, and delays a close of the connection until it returns. When the page is left the replica asks for
     * the close, but the last commits of queues and limits must begin first.
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
        const connection = this.#connection;
        this.#connection = undefined;
        connection?.close();
    }

    /** The page is back: what was under way when it left will get no event; it has failed, or its outcome is unknown. */
    returned() {
        this.#loseTransactions();
        this.#openAnew?.();
    }

    /** No more events will come for what was under way. */
    #loseTransactions() {
        for (const transaction of [...this.#transactions.values()]) transaction.connectionLost();
    }

    /** What no commit was asked for is aborted, as when the page dies. */
    dispose() {
        this.#disposed = true;
        for (const transaction of this.#transactions.values()) transaction.end();
        this.close();
    }

    /** @param {Opened} opened called at once where the connection is open */
    use(opened) {
        if (this.#connection) {
            opened(this.#connection, ['store-failed', '']);
        } else if (this.#waiting) {
            this.#waiting.push(opened);
        } else {
            this.#waiting = [opened];
            this.#request(undefined);
        }
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
            // A stranger's, as in #upgradeForeign(): it is upgraded once.
            connection.close();
            if (!upgraded) return this.#request(connection.version + 1);
            [connection, why] = [undefined, ['store-failed', foreign.message]];
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
        this.#connection = connection;
        this.#fitting.clear();
        connection.onversionchange = () => {
            connection.close();
            this.#drop(connection);
        };
        connection.onclose = () => {
            this.#loseTransactions();
            this.#drop(connection);
        };
    }

    /** @param {IDBDatabase} connection */
    #drop(connection) {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#report.databaseClosed();
    }
}
