import { isWellFormed } from '../common/well-formed.js';
import { DatabaseConnection, foreignDatabase } from './connection.js';
import { attempt, storeFailure } from './failure.js';
import { isFirefox, isWebKit } from './browser-engine.js';
import { claims, data, storeFits, subject } from './schema.js';

/** @typedef {{ scope: string[], access: 'readonly' | 'readwrite', durability: 'relaxed' | 'strict' }} TransactionOptions */

/**
 * Firefox (153, measured) completes a transaction whose `commit()` was called although a request failed, unless it was
 * the last one: without what failed, be it the claim that fences it off. There a transaction commits by itself, once
 * all its requests have succeeded; and in a page that is left, where nothing can be waited for, with care: the claim
 * comes last, and where another write has failed, though the rest is stored, that is an unknown commit.
 *
 * WebKit (2.50, measured) lets a Worker that is terminated just after `commit()` block the stores for every tab, until
 * the page that made it is closed; its transactions, too, commit by themselves.
 *
 * @typedef {'at once' | 'by itself' | 'with care'} Committing
 */

/** Thrown where a store has one of our names and not our shape. */
const foreign = new Error(foreignDatabase);

/** The database of a namespace, as the core asks for it: the connection, and the transactions on it. */
export class DatabaseHost extends DatabaseConnection {
    #keyRange;
    #host;
    #report;

    /** See Committing. @type {() => Committing} */
    #committing;

    /**
     * The transactions that the core holds, by the operation that began them.
     * @type {Map<number, TransactionHost>}
     */
    #transactions = new Map();

    /**
     * The stores of the connection whose shape was seen to be ours.
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
     * Settles when transaction(operation) is there, at once where the connection is open.
     *
     * @param {number} operation
     * @param {TransactionOptions} options
     */
    begin(operation, options) {
        if (this._connection) this.#begin(this._connection, operation, options, true);
        else this.#beginOnceOpen(operation, options, true);
    }

    /**
     * @param {number} operation
     * @param {TransactionOptions} options
     * @param {boolean} again
     */
    #beginOnceOpen(operation, options, again) {
        this.use((connection, why) => {
            if (connection) this.#begin(connection, operation, options, again);
            else this.#report.failed(operation, ...why);
        });
    }

    /**
     * @param {IDBDatabase} connection
     * @param {number} operation
     * @param {TransactionOptions} options
     * @param {boolean} again whether a connection that turns out dead, or a stranger's, may be opened anew
     */
    #begin(connection, operation, options, again) {
        try {
            this.#transactions.set(operation, this.#transaction(connection, options));
        } catch (error) {
            // Closed under us without an event, or its stores are gone, or have another shape.
            if (again && error === foreign) this._upgradeForeign(connection);
            else this._drop(connection);
            if (again) this.#beginOnceOpen(operation, options, false);
            else this.#report.failed(operation, ...storeFailure(error));
            return;
        }
        this.#report.settled(operation);
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

    /** @param {number} id */
    transaction(id) {
        return this.#transactions.get(id);
    }

    /**
     * The core is done with it: aborted, if no commit was asked for.
     * @param {number} id
     */
    forget(id) {
        this.#transactions.get(id)?.abort();
        this.#transactions.delete(id);
    }

    /**
     * The page is back: what was under way when it left will get no event; it has failed, or its outcome is unknown.
     * @override
     */
    returned() {
        this._disconnected();
        super.returned();
    }

    /**
     * What no commit was asked for is aborted, as when the page dies.
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
 * One transaction. Its requests are issued as they come and not waited for, so that a whole commit
 * can be issued from within `pagehide`. Its outcome is `complete` or `abort`, and nothing else: a
 * write that exceeds the quota aborts without the request's own error event.
 */
export class TransactionHost {
    #transaction;
    #keyRange;
    #values;
    #committing;
    #report;

    /**
     * Reads that have not been answered.
     * @type {Set<number>}
     */
    #reads = new Set();

    /**
     * The operation that waits for the outcome.
     * @type {number | undefined}
     */
    #commit;

    /** Whether a commit was asked for. */
    #committed = false;

    /**
     * The last claim, once more.
     * @type {(() => void) | undefined}
     */
    #claimAgain;

    /**
     * The failure of the first request that failed. A full quota and a failed commit are reported by the
     * transaction alone, and WebKit's does not report them once commit() was called.
     * @type {import('./failure.js').Failure | undefined}
     */
    #refusal;

    /**
     * The outcome, once there is one: null for complete.
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
     * Rows whose key the core could not name, and so not remove either, stay where they are.
     *
     * @param {number} operation
     * @param {string} store
     * @param {string} prefix
     * @param {number} [limit] rows at most
     * @param {string} [from] of those that begin with the prefix, the first that is asked for; empty for all
     */
    list(operation, store, prefix, limit, from) {
        // Strings are sorted by their code units: those that begin with the prefix end where its last one is one more.
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
     * @param {number} operation
     * @param {string} of
     */
    holder(operation, of) {
        this.#read(operation, claims, (objects) => {
            const request = objects.index(subject).getKey(of);
            return [request, () => [this.#holder(objects, request.result)]];
        });
    }

    /**
     * @param {IDBObjectStore} objects
     * @param {IDBValidKey | undefined} key
     * @returns {string | null}
     */
    #holder(objects, key) {
        if (key === undefined || named(key)) return key ?? null;
        // A stranger's, which the core could not release: for ever in the way of all who claim the subject.
        this.#write(() => objects.delete(key));
        return '?';
    }

    /**
     * @param {string} store
     * @param {string} key
     * @param {string} value
     */
    put(store, key, value) {
        const kept = store === data ? this.#values.get(value) : value;
        this.#put(store, kept, key);
    }

    /**
     * @param {string} store
     * @param {string} key
     */
    remove(store, key) {
        this.#write(() => this.#transaction.objectStore(store).delete(key));
    }

    /**
     * @param {string} store
     * @param {string} first
     * @param {string} last
     */
    removeRange(store, first, last) {
        this.#write(() => this.#transaction.objectStore(store).delete(this.#keyRange.bound(first, last)));
    }

    /**
     * @param {string} of
     * @param {string} holder
     */
    claim(of, holder) {
        this.#claimAgain = () => this.#put(claims, { [subject]: of }, holder);
        this.#claimAgain();
    }

    /**
     * @param {string} store
     * @param {unknown} value
     * @param {string} key
     */
    #put(store, value, key) {
        this.#write(() => this.#transaction.objectStore(store).put(value, key));
    }

    /** @param {number} operation */
    commit(operation) {
        this.#committed = true;
        this.#commit = operation;
        if (this.#outcome !== undefined) return this.#settle();
        if (this.#committing === 'by itself') return;
        if (this.#committing === 'with care') this.#claimAgain?.();
        try {
            this.#transaction.commit?.();
        } catch {
            // It has ended; its event is on the way.
        }
    }

    /** Aborts it, unless a commit was asked for. */
    abort() {
        if (this.#committed) return;
        this.#refusal ??= ['store-failed', 'the transaction was aborted: try again'];
        this.#abort();
    }

    #abort() {
        try {
            this.#transaction.abort();
        } catch {
            // It has ended.
        }
    }

    /** No event of it will come. Whether a commit took place is not known, unless it has an error. */
    connectionLost() {
        this.#end(this.#transaction.error ? ['store-failed', 'the transaction was aborted'] : this.#lost());
    }

    /**
     * @param {number} operation
     * @param {string} store
     * @param {(objects: IDBObjectStore) => [IDBRequest, () => (string | null)[]]} issue the last request, and
     *     what to read once it has succeeded
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
     * @param {number} operation
     * @param {import('./failure.js').Failure} why
     */
    #refuse(operation, why) {
        if (this.#reads.delete(operation)) this.#report.failed(operation, ...why);
    }

    /**
     * A row's value as the core has it. What is an application's is kept for it.
     *
     * @param {string} store
     * @param {unknown} value
     */
    #valueOf(store, value) {
        return store === data ? this.#values.keep(value) : text(value);
    }

    /** @param {() => void} issue */
    #write(issue) {
        try {
            issue();
        } catch (error) {
            // A transaction that has ended already keeps its failure. One that the browser completed by
            // itself, since it had nothing to do for a while, has none, and does not contain this write.
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

    /** @param {import('./failure.js').Failure | null} outcome */
    #end(outcome) {
        if (this.#outcome !== undefined) return;
        this.#outcome = outcome;
        for (const operation of this.#reads) {
            this.#refuse(operation, outcome ?? ['store-failed', 'the transaction had ended']);
        }
        this.#settle();
    }

    #settle() {
        if (this.#commit === undefined) return;
        if (this.#outcome) this.#report.failed(this.#commit, ...this.#outcome);
        else this.#report.settled(this.#commit);
        this.#commit = undefined;
    }

    /** @returns {import('./failure.js').Failure} */
    #lost() {
        return this.#committed
            ? ['unknown-commit', 'the connection was closed during the commit']
            : ['store-failed', 'the connection was closed'];
    }
}

/**
 * Why the browser aborted. Nothing for an AbortError: a connection was closed by force, since nobody else aborts a
 * transaction of ours that is committing, or another request had failed.
 *
 * @param {DOMException | null} error
 * @returns {import('./failure.js').Failure | undefined}
 */
function abortionOf(error) {
    if (error?.name === 'ConstraintError') return ['fenced', 'another holder has the claim'];
    return error && error.name !== 'AbortError' ? storeFailure(error) : undefined;
}

/**
 * Firefox (153, measured) refuses every put() of the next transaction after one that exceeded the quota, and of that
 * one only. (Of the others that commit by themselves none needs this.)
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
 * Whether the core, which knows keys in UTF-8, can name it.
 *
 * @param {IDBValidKey} key
 * @returns {key is string}
 */
const named = (key) => typeof key === 'string' && isWellFormed(key);

/** @param {unknown} value a row's value, or null for what is no string */
const text = (value) => (typeof value === 'string' ? value : null);
