import { DatabaseConnection, foreignDatabase } from './connection.js';
import { attempt, storeFailure } from './failure.js';
import { isFirefox, isWebKit } from './browser-engine.js';
import { storeFits } from './schema.js';
import { TransactionHost } from './transaction.js';

/** @typedef {import('./transaction.js').Committing} Committing */

/** @typedef {{ scope: string[], access: 'readonly' | 'readwrite', durability: 'relaxed' | 'strict' }} TransactionOptions */

/** Thrown if a store has one of our names but another shape. */
const foreign = new Error(foreignDatabase);

/** The database of a namespace: the connection, and the transactions on it. */
export class DatabaseHost extends DatabaseConnection {
    #keyRange;
    #host;
    #report;

    /** Returns how a transaction that begins at this moment commits. @type {() => Committing} */
    #committing;

    /**
     * The transactions that the core uses, by the operations that began them.
     * @type {Map<number, TransactionHost>}
     */
    #transactions = new Map();

    /**
     * The stores of the present connection that are known to have our shape.
     * @type {Set<string>}
     */
    #fitting = new Set();

    /**
     * @param {import('./host.js').Platform} platform
     * @param {string} namespace
     * @param {Pick<import('./host.js').Host, 'clock' | 'values' | 'lifecycle'>} host
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, namespace, host, report) {
        super(platform, namespace, host, report);
        this.#keyRange = attempt(() => platform.IDBKeyRange);
        this.#host = host;
        this.#report = report;
        const careless = isFirefox(platform);
        const alone = isWebKit(platform) && !platform.document;
        this.#committing = () =>
            host.lifecycle.going ? 'with care' : careless || alone ? 'by itself' : 'at once';
    }

    /**
     * Begins a transaction, and settles the operation when transaction(operation) returns it. If the
     * connection is open, the operation settles before this returns.
     *
     * @param {number} operation
     * @param {TransactionOptions} options
     */
    begin(operation, options) {
        if (this._connection) this.#begin(this._connection, operation, options, true);
        else this.#beginOnceOpen(operation, options, true);
    }

    /**
     * Begins a transaction once the connection is open.
     *
     * @param {number} operation
     * @param {TransactionOptions} options
     * @param {boolean} again whether the connection may be opened again if the transaction cannot begin
     */
    #beginOnceOpen(operation, options, again) {
        this.use((connection, why) => {
            if (connection) this.#begin(connection, operation, options, again);
            else this.#report.failed(operation, ...why);
        });
    }

    /**
     * Begins a transaction on a connection.
     *
     * @param {IDBDatabase} connection
     * @param {number} operation
     * @param {TransactionOptions} options
     * @param {boolean} again whether the connection may be opened again if it turns out to be dead or foreign
     */
    #begin(connection, operation, options, again) {
        try {
            this.#transactions.set(operation, this.#transaction(connection, options));
        } catch (error) {
            // The browser has closed the connection without an event, or stores are missing or have another
            // shape.
            if (again && error === foreign) this._upgradeForeign(connection);
            else this._drop(connection);
            if (again) this.#beginOnceOpen(operation, options, false);
            else this.#report.failed(operation, ...storeFailure(error));
            return;
        }
        this.#report.settled(operation);
    }

    /**
     * Makes a transaction, and checks the shape of its stores.
     *
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

    /** Returns a transaction. @param {number} id the operation that began it */
    transaction(id) {
        return this.#transactions.get(id);
    }

    /**
     * Releases a transaction that the core does not need any more. It is aborted, unless commit() was called.
     * @param {number} id the operation that began it
     */
    forget(id) {
        this.#transactions.get(id)?.abort();
        this.#transactions.delete(id);
    }

    /**
     * Ends the transactions that were pending when the page was left, since they get no event after the page
     * is back. They have failed, or their outcome is unknown.
     * @override
     */
    returned() {
        this._disconnected();
        super.returned();
    }

    /**
     * Aborts the transactions that are not being committed, as the browser does when a page is closed, and
     * closes the connection.
     * @override
     */
    dispose() {
        for (const transaction of this.#transactions.values()) transaction.abort();
        super.dispose();
    }

    /** @override @protected */
    _connected() {
        this.#fitting.clear();
    }

    /** @override @protected */
    _disconnected() {
        for (const transaction of [...this.#transactions.values()]) transaction.connectionLost();
    }
}
