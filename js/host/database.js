/**
 * The database of a tab, and its transactions. The file is longer than 500 lines because both classes are one step of
 * every call's way to IndexedDB, which a reader follows in one place (docs/architecture.md).
 */

import { isWellFormed } from '../common/well-formed.js';
import { DatabaseConnection, foreignDatabase } from './connection.js';
import { attempt, storeFailure } from './failure.js';
import { isFirefox, isWebKit } from './browser-engine.js';
import { claims, data, storeFits, subject } from './schema.js';

/** @typedef {{ scope: string[], access: 'readonly' | 'readwrite', durability: 'relaxed' | 'strict' }} TransactionOptions */

/**
 * How transactions are committed: `at once` by a call of `commit()`, or in one of two ways that work around
 * defects of engines.
 *
 * `by itself`: `commit()` is not called, and the browser commits once all requests have succeeded. Firefox
 * (153, measured) needs this. There, after a call of `commit()`, a transaction completes although one of its
 * requests has failed, unless that is the last one. The failed request may be the claim that fences the
 * transaction. A Worker in WebKit (2.50, measured) needs it, too: if it is terminated just after `commit()`,
 * the stores are blocked for every tab until the page that made the Worker is closed.
 *
 * `with care`: Firefox uses this in a page that is being left, where nothing can be waited for. The claim is
 * written once more as the last request, and `commit()` is called. If another request has failed, the rest
 * may be stored, so the commit is reported as unknown.
 *
 * @typedef {'at once' | 'by itself' | 'with care'} Committing
 */

/** The error for a store that has one of our names but another shape. */
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

/**
 * One transaction. Each request is made at once and does not wait for earlier ones, so that a whole commit
 * can be made within the event `pagehide`. The outcome is decided by the events `complete` and `abort` alone,
 * because a write that exceeds the quota aborts the transaction without an error event of the request.
 */
export class TransactionHost {
    #transaction;
    #keyRange;
    #values;
    #committing;
    #report;

    /**
     * The operations of reads that are not settled.
     * @type {Set<number>}
     */
    #reads = new Set();

    /**
     * The operation that waits for the outcome.
     * @type {number | undefined}
     */
    #commit;

    /** Whether commit() was called. */
    #committed = false;

    /**
     * Writes the last claim once more.
     * @type {(() => void) | undefined}
     */
    #claimAgain;

    /**
     * The failure of the first request that failed. A full quota and a failed commit are reported by the
     * transaction alone, and in WebKit not even by the transaction, once commit() was called.
     * @type {import('./failure.js').Failure | undefined}
     */
    #refusal;

    /**
     * The outcome, once there is one: a failure, or null if the transaction is complete.
     * @type {import('./failure.js').Failure | null | undefined}
     */
    #outcome;

    /**
     * @param {IDBTransaction} transaction
     * @param {typeof IDBKeyRange} keyRange
     * @param {import('./values.js').Values} values
     * @param {Committing} committing
     * @param {import('./host.js').HostEvents} report
     */
    constructor(transaction, keyRange, values, committing, report) {
        this.#transaction = transaction;
        this.#keyRange = keyRange;
        this.#values = values;
        this.#committing = committing;
        this.#report = report;
        transaction.onerror = ({ target }) =>
            (this.#refusal ??= abortionOf(/** @type {IDBRequest} */ (target).error));
        transaction.oncomplete = () =>
            this.#end(
                this.#refusal ? ['unknown-commit', `a part of it was refused: ${this.#refusal[1]}`] : null,
            );
        transaction.onabort = () => {
            const { error } = transaction;
            if (error?.name === 'QuotaExceededError' && committing !== 'at once') allowWrites(transaction);
            this.#end(abortionOf(error) ?? this.#refusal ?? (error ? this.#lost() : storeFailure(error)));
        };
    }

    /**
     * Settles the operation with the key and its value, or with nothing if the store does not have the key.
     *
     * @param {number} operation
     * @param {string} store
     * @param {string} key
     */
    get(operation, store, key) {
        this.#read(operation, store, (objects) => {
            const request = objects.get(key);
            return [
                request,
                () => (request.result === undefined ? [] : [key, this.#valueOf(store, request.result)]),
            ];
        });
    }

    /**
     * Settles the operation with the keys that begin with the prefix, and their values. A key that the core
     * cannot name is left out: the core could not remove it either.
     *
     * @param {number} operation
     * @param {string} store
     * @param {string} prefix
     * @param {number} [limit] the most rows
     * @param {string} [from] the key to begin with; empty for the first
     */
    list(operation, store, prefix, limit, from) {
        // Keys are sorted by their code units. So those with the prefix come before the string in which the
        // last code unit of the prefix is one larger; a unit of U+FFFF cannot be larger, and is dropped.
        const end = prefix.replace(/[^\uffff]\uffff*$/, (tail) =>
            String.fromCharCode(tail.charCodeAt(0) + 1),
        );
        this.#read(operation, store, (objects) => {
            const range =
                end === prefix
                    ? this.#keyRange.lowerBound(from || prefix)
                    : this.#keyRange.bound(from || prefix, end, false, true);
            const keys = objects.getAllKeys(range, limit);
            const values = objects.getAll(range, limit);
            const row = (/** @type {IDBValidKey} */ key, /** @type {number} */ i) =>
                named(key) ? [key, this.#valueOf(store, values.result[i])] : [];
            return [values, () => keys.result.flatMap(row)];
        });
    }

    /**
     * Settles the operation with the holder of a claim, or null.
     *
     * @param {number} operation
     * @param {string} of the subject
     */
    holder(operation, of) {
        this.#read(operation, claims, (objects) => {
            const request = objects.index(subject).getKey(of);
            return [request, () => [this.#holder(objects, request.result)]];
        });
    }

    /**
     * Returns the name of a holder as the core reads it.
     *
     * @param {IDBObjectStore} objects
     * @param {IDBValidKey | undefined} key
     * @returns {string | null}
     */
    #holder(objects, key) {
        if (key === undefined || named(key)) return key ?? null;
        // This foreign claim has a key that the core cannot name, and so cannot release. It is deleted,
        // because otherwise no tab could ever claim the subject.
        this.#write(() => objects.delete(key));
        return '?';
    }

    /**
     * Sets the value of a key.
     *
     * @param {string} store
     * @param {string} key
     * @param {string} value for the store of applications, the number of the value
     */
    put(store, key, value) {
        const kept = store === data ? this.#values.get(value) : value;
        this.#put(store, kept, key);
    }

    /**
     * Removes a key.
     *
     * @param {string} store
     * @param {string} key
     */
    remove(store, key) {
        this.#write(() => this.#transaction.objectStore(store).delete(key));
    }

    /**
     * Removes all keys from `first` to `last`.
     *
     * @param {string} store
     * @param {string} first
     * @param {string} last
     */
    removeRange(store, first, last) {
        this.#write(() => this.#transaction.objectStore(store).delete(this.#keyRange.bound(first, last)));
    }

    /**
     * Claims a subject. If it has another holder, the transaction aborts.
     *
     * @param {string} of the subject
     * @param {string} holder
     */
    claim(of, holder) {
        this.#claimAgain = () => this.#put(claims, { [subject]: of }, holder);
        this.#claimAgain();
    }

    /**
     * Sets the value of a key.
     *
     * @param {string} store
     * @param {unknown} value
     * @param {string} key
     */
    #put(store, value, key) {
        this.#write(() => this.#transaction.objectStore(store).put(value, key));
    }

    /** Commits, and settles the operation when the outcome is known. @param {number} operation */
    commit(operation) {
        this.#committed = true;
        this.#commit = operation;
        if (this.#outcome !== undefined) return this.#settle();
        if (this.#committing === 'by itself') return;
        if (this.#committing === 'with care') this.#claimAgain?.();
        try {
            this.#transaction.commit?.();
        } catch {
            // The transaction has ended, and its event follows.
        }
    }

    /** Aborts the transaction, unless commit() was called. */
    abort() {
        if (this.#committed) return;
        this.#refusal ??= ['store-failed', 'the transaction was aborted: try again'];
        this.#abort();
    }

    #abort() {
        try {
            this.#transaction.abort();
        } catch {
            // The transaction has ended.
        }
    }

    /**
     * Ends the transaction without an event of it. Unless it has an error, the outcome of its commit is
     * unknown.
     */
    connectionLost() {
        this.#end(this.#transaction.error ? ['store-failed', 'the transaction was aborted'] : this.#lost());
    }

    /**
     * Makes the requests of a read, and settles the operation when they have succeeded.
     *
     * @param {number} operation
     * @param {string} store
     * @param {(objects: IDBObjectStore) => [IDBRequest, () => (string | null)[]]} issue makes the requests.
     *   Returns the last one, and a function that reads the results once it has succeeded
     */
    #read(operation, store, issue) {
        this.#reads.add(operation);
        try {
            const [request, answer] = issue(this.#transaction.objectStore(store));
            request.onsuccess = () => {
                if (this.#reads.delete(operation)) this.#report.settled(operation, answer());
            };
        } catch (error) {
            this.#refuse(operation, storeFailure(error));
        }
    }

    /**
     * Reports that a read has failed, unless it is settled.
     *
     * @param {number} operation
     * @param {import('./failure.js').Failure} why
     */
    #refuse(operation, why) {
        if (this.#reads.delete(operation)) this.#report.failed(operation, ...why);
    }

    /**
     * Returns the value of a row as the core reads it: text, or the number of an application's value.
     *
     * @param {string} store
     * @param {unknown} value
     */
    #valueOf(store, value) {
        return store === data ? this.#values.keep(value) : text(value);
    }

    /** Makes the request of a write. If that throws, the transaction fails. @param {() => void} issue */
    #write(issue) {
        try {
            issue();
        } catch (error) {
            // A transaction that has failed keeps its failure. A transaction that had nothing to do for a
            // while has been completed by the browser: it does not contain this write, so it fails.
            if (this.#outcome === null)
                this.#outcome = [
                    'store-failed',
                    'the transaction had ended before this was written: nothing but its own calls may be awaited in it',
                ];
            if (this.#outcome !== undefined) return;
            this.#abort();
            this.#end(storeFailure(error));
        }
    }

    /** Sets the outcome, unless there is one. @param {import('./failure.js').Failure | null} outcome */
    #end(outcome) {
        if (this.#outcome !== undefined) return;
        this.#outcome = outcome;
        for (const operation of this.#reads) {
            this.#refuse(operation, outcome ?? ['store-failed', 'the transaction had ended']);
        }
        this.#settle();
    }

    /** Reports the outcome to the operation that waits for it. */
    #settle() {
        if (this.#commit === undefined) return;
        if (this.#outcome) this.#report.failed(this.#commit, ...this.#outcome);
        else this.#report.settled(this.#commit);
        this.#commit = undefined;
    }

    /**
     * Returns the failure of a transaction that lost its connection.
     *
     * @returns {import('./failure.js').Failure}
     */
    #lost() {
        return this.#committed
            ? ['unknown-commit', 'the connection was closed during the commit']
            : ['store-failed', 'the connection was closed'];
    }
}

/**
 * Returns why the browser aborted a transaction. Returns nothing for an AbortError, which does not state the
 * reason: the connection was closed by force, or another request had failed.
 *
 * @param {DOMException | null} error
 * @returns {import('./failure.js').Failure | undefined}
 */
function abortionOf(error) {
    if (error?.name === 'ConstraintError') return ['fenced', 'another holder has the claim'];
    return error && error.name !== 'AbortError' ? storeFailure(error) : undefined;
}

/**
 * Makes the next transaction accept writes again after one that exceeded the quota. Firefox (153, measured)
 * refuses every put() of the transaction that follows, and only of that one: so an empty one is made here.
 * (Of the other engines whose transactions commit by themselves, none needs this.)
 *
 * @param {IDBTransaction} failed
 */
function allowWrites({ db, objectStoreNames }) {
    try {
        db.transaction([...objectStoreNames], 'readwrite').abort();
    } catch {
        // The connection is closed.
    }
}

/**
 * Whether the core can name a key. It has keys in UTF-8.
 *
 * @param {IDBValidKey} key
 * @returns {key is string}
 */
const named = (key) => typeof key === 'string' && isWellFormed(key);

/** Returns the value of a row, or null if it is no string. @param {unknown} value */
const text = (value) => (typeof value === 'string' ? value : null);
