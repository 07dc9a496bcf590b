/** The database of a tab: it begins transactions, and repeats those whose connection has died. */

import { DatabaseConnection, foreignDatabase } from './connection.js';
import { attempt, storeFailure } from './failure.js';
import { isFirefox, isWebKit } from './browser-engine.js';
import { storeFits } from './schema.js';
import { TransactionHost } from './transaction.js';

/** @typedef {{ scope: string[], access: 'readonly' | 'readwrite', durability: 'relaxed' | 'strict' }} TransactionOptions */

/** The error for a store that has the name of a store of tabacus but another shape. */
const foreign = new Error(foreignDatabase);

/** How many times within `timeouts.transaction` the database checks for transactions that are not answered. */
const checksPerTimeout = 4;

/** The database of a namespace: the connection, and the transactions on it. */
export class DatabaseHost extends DatabaseConnection {
    #host;
    #report;

    /** @type {import('./transaction.js').TransactionOwner} */
    #owner;

    /** The options of the transactions without an outcome. @type {Map<TransactionHost, TransactionOptions>} */
    #unfinished = new Map();

    /**
     * Functions that start the waiting transactions. While connections die, only one transaction runs, as a probe.
     * @type {(() => void)[]}
     */
    #waitingForProbe = [];

    /** Ends the timer that looks for transactions which are not answered. @type {(() => void) | undefined} */
    #stopChecking;

    /**
     * The transactions that the core uses, by the operations that began them.
     * @type {Map<number, TransactionHost>}
     */
    #transactions = new Map();

    /**
     * The stores of the present connection that are known to have the right shape.
     * @type {Set<string>}
     */
    #fitting = new Set();

    /**
     * @param {import('./host.js').Platform} platform
     * @param {string} namespace
     * @param {Pick<import('./host.js').Host, 'clock' | 'values' | 'lifecycle' | 'timeouts' | 'warn' | 'capabilitiesChanged'>} host
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, namespace, host, report) {
        super(platform, namespace, host, report);
        this.#host = host;
        this.#report = report;
        const firefox = isFirefox(platform);
        const webKitWorker = isWebKit(platform) && !platform.document;
        this.#owner = {
            keyRange: /** @type {typeof IDBKeyRange} */ (attempt(() => platform.IDBKeyRange)),
            values: host.values,
            report,
            committing: () =>
                host.lifecycle.going ? 'with care' : firefox || webKitWorker ? 'by itself' : 'at once',
            succeeded: () => this._succeeded(),
            ended: (transaction) => this.#ended(transaction),
            repeat: (...died) => this.#repeat(...died),
        };
    }

    /** Whether the connection is open. */
    get opened() {
        return this._connection !== undefined;
    }

    /**
     * Begins a transaction, and settles the operation when transaction(operation) returns it. If the
     * connection is open, the operation settles before this returns.
     *
     * @param {number} operation
     * @param {TransactionOptions} options
     */
    begin(operation, options) {
        const transaction = new TransactionHost(this.#owner);
        this.#start(transaction, options, (failure) => {
            if (failure) return this.#report.failed(operation, ...failure);
            this.#transactions.set(operation, transaction);
            this.#report.settled(operation);
        });
    }

    /**
     * Starts a transaction once the connection is open. If the connection turns out to be dead, another one is opened,
     * and a foreign database is upgraded once.
     *
     * @param {TransactionHost} transaction
     * @param {TransactionOptions} options
     * @param {(failure?: import('./failure.js').Failure) => void} done called once
     * @param {boolean} [again] whether this is repeated if the transaction cannot begin
     */
    #start(transaction, options, done, again = true) {
        this.use((connection, why) => {
            if (!connection) return done(why);
            if (!transaction.unfinished) return;
            // One transaction finds out whether the database works again, and the others wait for it.
            if (this._exhausted && this.#unfinished.size > 0) {
                this.#waitingForProbe.push(() => this.#start(transaction, options, done, again));
                return;
            }
            try {
                const begun = this.#transaction(connection, options);
                this.#unfinished.set(transaction, options);
                this.#check();
                transaction.start(begun);
            } catch (error) {
                // The browser has closed the connection without an event, or stores are missing or have another
                // shape.
                const failure = storeFailure(error);
                this.#unfinished.delete(transaction);
                if (again && error === foreign) this._upgradeForeign(connection);
                else this._replace(connection, failure[1], false);
                if (again && !this._exhausted) this.#start(transaction, options, done, error !== foreign);
                else done(this._withAdvice(failure));
                return;
            }
            done();
        });
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
        return transaction;
    }

    /**
     * Replaces a dead connection, and starts a transaction on the new one, or ends it.
     *
     * @param {TransactionHost | undefined} transaction undefined if it is not repeated
     * @param {IDBDatabase} connection
     * @param {string} cause
     * @param {boolean} hung
     * @param {import('./failure.js').Failure} failure
     */
    #repeat(transaction, connection, cause, hung, failure) {
        this._replace(connection, cause, hung);
        if (!transaction) return;
        const options = this.#unfinished.get(transaction);
        if (this._exhausted || !options || this.#host.lifecycle.going)
            return transaction.end(this._withAdvice(failure));
        this.#unfinished.delete(transaction); // while it waits for a connection, it is not the probe
        this.#start(transaction, options, (why) => {
            if (why) transaction.end(why);
        });
    }

    /**
     * Forgets a transaction that has an outcome. If it was the last unfinished one, starts those that waited for the
     * probe.
     *
     * @param {TransactionHost} transaction
     */
    #ended(transaction) {
        this.#unfinished.delete(transaction);
        if (this.#unfinished.size > 0) return;
        this.#stopChecking?.();
        this.#stopChecking = undefined;
        this._tidy();
        for (const start of this.#waitingForProbe.splice(0)) start();
    }

    /** Looks for transactions that are not answered, while there are any. */
    #check() {
        if (this.#stopChecking || this.#unfinished.size === 0) return;
        const { clock, timeouts } = this.#host;
        this.#stopChecking = clock.after(timeouts.transaction / checksPerTimeout, () => {
            this.#stopChecking = undefined;
            this._checkFrame();
            for (const transaction of [...this.#unfinished.keys()]) transaction.tick();
            this.#check();
        });
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
        const transaction = this.#transactions.get(id);
        this.#transactions.delete(id);
        if (transaction?.abort()) this.#ended(transaction);
    }

    /**
     * Repeats the transactions that were pending when the page was left, since they get no event after the page
     * is back. One that may have been committed and has no proof ends with `unknown-commit`.
     * @override
     */
    returned() {
        this._disconnected(undefined);
        super.returned();
    }

    /**
     * Aborts the transactions that are not being committed, as the browser does when a page is closed, and
     * closes the connection.
     * @override
     */
    dispose() {
        for (const transaction of [...this.#unfinished.keys()]) transaction.abort();
        super.dispose();
        this._tidy();
    }

    /** Removes the frame of a closed tab, once nothing is under way in it. @override @protected */
    _tidy() {
        if (this._disposed && !this._waiting && this.#unfinished.size === 0) this._factories.usePage();
    }

    /** @override @protected */
    _connected() {
        this.#fitting.clear();
    }

    /** @param {IDBDatabase | undefined} connection @override @protected */
    _disconnected(connection) {
        for (const transaction of [...this.#unfinished.keys()]) transaction.connectionLost(connection);
    }
}
