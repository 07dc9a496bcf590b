/**
 * One transaction of the database of a tab, which survives the death of its connection. The file is longer than 500 lines
 * because its class is one state machine; the table before the class has its states.
 */

import { isWellFormed } from '../common/well-formed.js';
import { storeFailure } from './failure.js';
import { claims, data, subject } from './schema.js';
import { abortIfPossible, abortionOf, allowWrites, isEqual, isInactive } from './transaction-ends.js';

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

/**
 * What a transaction needs of the database.
 *
 * @typedef {object} TransactionOwner
 * @property {typeof IDBKeyRange} keyRange
 * @property {import('./values.js').Values} values
 * @property {import('./host.js').HostEvents} report
 * @property {() => Committing} committing how a transaction that begins at this moment commits
 * @property {() => void} succeeded a transaction was completed
 * @property {(transaction: TransactionHost) => void} ended a transaction has an outcome
 * @property {(transaction: TransactionHost | undefined, connection: IDBDatabase, cause: string, hung: boolean, failure: import('./failure.js').Failure) => void} repeat
 *   the connection is dead; starts the transaction, if any, on another one, or ends it
 */

/** How often a transaction is repeated. A fourth attempt has not helped in any engine. */
const repetitionsMax = 3;

/**
 * Whether a row is a proof (docs/formats.md). A proof has a value that no other transaction writes. After the
 * connection of a transaction has died, it therefore shows whether the transaction was committed.
 *
 * @param {string} store
 * @param {string} key
 */
const isProof = (store, key) => ['locks', 'jobs'].includes(store) && /^[^/]+\/commit$/.test(key);

/** @type {import('./failure.js').Failure} */
const endedBefore = [
    'store-failed',
    'the transaction had ended before this was written: nothing but its own calls may be awaited in it',
];

/**
 * One transaction. Each request is made at once and does not wait for earlier ones, so that a whole commit
 * can be made within the event `pagehide`. The outcome is decided by the events `complete` and `abort` alone,
 * because a write that exceeds the quota aborts the transaction without an error event of the request.
 *
 * If its connection dies, the transaction is repeated on another one: all requests are made again in their order. The
 * repetition reads again what the caller has read. If an answer differs, it is aborted. If the connection died
 * after the commit, the transaction may have been committed. Then it is repeated only if it wrote a proof, which is
 * looked for first; without a proof the outcome is unknown.
 *
 *   state      what ends it                         next state
 *   running    the connection dies                  waiting; ended after `repetitionsMax` repetitions, or if a commit
 *                                                   was requested and no proof was written
 *   waiting    another connection is open           running; after a commit: proving
 *   proving    the proof is found                   ended: committed
 *              there is no proof                    running
 *   running    complete, abort                      ended
 *              a read differs from before           ended: failed, or unknown if it may have been committed before
 */
export class TransactionHost {
    #owner;
    #committing;

    /**
     * The present transaction of IndexedDB; undefined while this waits for a connection.
     * @type {IDBTransaction | undefined}
     */
    #transaction;

    /** All requests so far; each makes itself on the present transaction. @type {(() => void)[]} */
    #requests = [];

    /** How many reads of this repetition are still to be compared with the answers of the first attempt. */
    #uncompared = 0;

    #repetitions = 0;

    /** Whether a former attempt may have been committed. */
    #uncertain = false;

    /** The row that proves that this transaction was committed. @type {[store: string, key: string, value: unknown] | undefined} */
    #proof;

    /** Whether a request came too late, because the transaction had ended. */
    #missed = false;

    /** How many checks of the owner have passed since anything was answered. */
    #silent = 0;

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

    /** @param {TransactionOwner} owner */
    constructor(owner) {
        this.#owner = owner;
        this.#committing = owner.committing();
    }

    /** Begins, or repeats, the transaction. @param {IDBTransaction} transaction */
    start(transaction) {
        this.#transaction = transaction;
        this.#silent = 0;
        transaction.onerror = ({ target }) => {
            const { error } = /** @type {IDBRequest} */ (target);
            if (this.#transaction === transaction) this.#refusal ??= abortionOf(error);
        };
        transaction.oncomplete = () => {
            if (this.#transaction === transaction) this.#completed();
        };
        transaction.onabort = () => {
            const { error } = transaction;
            if (this.#transaction !== transaction) return;
            if (error?.name === 'QuotaExceededError' && this.#committing !== 'at once')
                allowWrites(transaction);
            const why = abortionOf(error) ?? this.#refusal;
            if (why) this.end(why);
            else this.#died(error ? `${error.name}: ${error.message}` : 'aborted by the browser', false);
        };
        if (this.#uncertain) this.#prove();
        else this.#repeat();
    }

    #completed() {
        this.#owner.succeeded();
        if (this.#missed) this.end(endedBefore);
        else
            this.#end(
                this.#refusal ? ['unknown-commit', `a part of it was refused: ${this.#refusal[1]}`] : null,
            );
    }

    /** Whether the transaction has no outcome yet. */
    get unfinished() {
        return this.#outcome === undefined;
    }

    /**
     * Called each time a quarter of `timeouts.transaction` has passed. At the fifth call without an answer, at least
     * the whole time has passed while the timers of this page ran, so the connection counts as dead.
     */
    tick() {
        if (!this.#transaction || (this.#reads.size === 0 && this.#commit === undefined)) return;
        if (++this.#silent < 5) return;
        this.#died('a transaction was not answered', true);
    }

    /**
     * Has the transaction repeated or ended after its connection has died, perhaps without an event.
     *
     * @param {string} cause
     * @param {boolean} hung whether the connection did not answer
     */
    #died(cause, hung) {
        const transaction = this.#transaction;
        if (!transaction || this.#outcome !== undefined) return;
        this.#transaction = undefined;
        this.#uncompared = 0;
        this.#missed = false;
        this.#uncertain ||= this.#committed;
        if (hung) abortIfPossible(transaction); // otherwise both it and its repetition might be completed
        const failure = this.#lost(cause);
        const over = ++this.#repetitions > repetitionsMax || (this.#uncertain && !this.#proof);
        this.#owner.repeat(over ? undefined : this, transaction.db, cause, hung, failure);
        if (over) this.end(failure);
    }

    /** Looks for the proof of a former attempt, and repeats the transaction if there is none. */
    #prove() {
        const transaction = /** @type {IDBTransaction} */ (this.#transaction);
        const [store, key, value] = /** @type {[string, string, unknown]} */ (this.#proof);
        const request = transaction.objectStore(store).get(key);
        request.onsuccess = () => {
            if (this.#transaction !== transaction) return;
            this.#silent = 0;
            if (request.result === value) return this.#end(null);
            // Another tab's proof may have replaced it. If this repetition then reads anything else than before, or is
            // not completed, the outcome is unknown.
            this.#repeat();
        };
    }

    /** Makes all requests again. */
    #repeat() {
        for (const request of [...this.#requests]) request();
        if (this.#committed && this.#uncompared === 0) this.#commitNow();
    }

    /** Makes a request, and notes it for a repetition. @param {() => void} request */
    #issue(request) {
        this.#requests.push(request);
        if (this.#transaction) request();
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
                () => (request.result === undefined ? [] : [key, valueOf(store, request.result)]),
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
                    ? this.#owner.keyRange.lowerBound(from || prefix)
                    : this.#owner.keyRange.bound(from || prefix, end, false, true);
            const keys = objects.getAllKeys(range, limit);
            const values = objects.getAll(range, limit);
            const row = (/** @type {IDBValidKey} */ key, /** @type {number} */ i) =>
                named(key) ? [key, valueOf(store, values.result[i])] : [];
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
        this.#write(() => this.#storeOf(objects.name).delete(key));
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
        const kept = store === data ? this.#owner.values.get(value) : value;
        if (isProof(store, key)) this.#proof = [store, key, value];
        this.#put(store, kept, key);
    }

    /**
     * Removes a key.
     *
     * @param {string} store
     * @param {string} key
     */
    remove(store, key) {
        this.#write(() => this.#storeOf(store).delete(key));
    }

    /**
     * Removes all keys from `first` to `last`.
     *
     * @param {string} store
     * @param {string} first
     * @param {string} last
     */
    removeRange(store, first, last) {
        this.#write(() => this.#storeOf(store).delete(this.#owner.keyRange.bound(first, last)));
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
        this.#write(() => this.#storeOf(store).put(value, key));
    }

    /** Commits, and settles the operation when the outcome is known. @param {number} operation */
    commit(operation) {
        this.#committed = true;
        this.#commit = operation;
        if (this.#outcome !== undefined) return this.#settle();
        if (this.#transaction && this.#uncompared === 0) this.#commitNow();
    }

    #commitNow() {
        if (this.#committing === 'by itself') return;
        if (this.#committing === 'with care') this.#claimAgain?.();
        try {
            this.#transaction?.commit?.();
        } catch {
            // The transaction has ended, and its event follows.
        }
    }

    /**
     * Aborts the transaction, unless commit() was called. Settles no operation before it returns.
     * @returns {boolean} whether commit() was not called
     */
    abort() {
        if (this.#committed) return false;
        const refusal = (this.#refusal ??= ['store-failed', 'the transaction was aborted: try again']);
        if (this.#transaction) abortIfPossible(this.#transaction);
        else void Promise.resolve().then(() => this.end(refusal));
        return true;
    }

    /**
     * Repeats or ends the transaction after the browser has closed its connection, since its events may never come.
     * @param {IDBDatabase | undefined} connection undefined for any
     */
    connectionLost(connection) {
        if (connection && this.#transaction?.db !== connection) return;
        if (this.#transaction?.error) this.end(['store-failed', 'the transaction was aborted']);
        else this.#died('the connection was closed', false);
    }

    /** Ends a transaction that is not repeated any more. @param {import('./failure.js').Failure} failure */
    end([code, message]) {
        this.#end([this.#uncertain ? 'unknown-commit' : code, message]);
    }

    /**
     * Makes the requests of a read, and settles the operation when they have succeeded. A repetition compares the
     * answer with the one that the caller has got.
     *
     * @param {number} operation
     * @param {string} store
     * @param {(objects: IDBObjectStore) => [IDBRequest, () => unknown[]]} issue makes the requests. Returns the last
     *   one, and a function that reads the results once it has succeeded
     */
    #read(operation, store, issue) {
        /** @type {unknown[] | undefined} */
        let known;
        this.#reads.add(operation);
        const read = () => {
            const transaction = this.#transaction;
            const again = known !== undefined;
            const [request, answer] = issue(this.#storeOf(store));
            if (again) ++this.#uncompared;
            request.onsuccess = () => {
                if (this.#transaction !== transaction) return;
                this.#silent = 0;
                if (again) return this.#compare(known, answer());
                if (!this.#reads.delete(operation)) return;
                known = answer();
                // The caller may change a value that it gets.
                const cloned = store === data && typeof structuredClone === 'function';
                const given = cloned ? structuredClone(known) : known;
                this.#owner.report.settled(operation, this.#passed(store, given));
            };
        };
        // It ended without a connection, so no event of a request follows.
        if (this.#outcome && !this.#transaction) return this.#refuse(operation, this.#outcome);
        this.#issue(() => {
            try {
                read();
            } catch (error) {
                // If the connection has died, the transaction's event is still to come.
                if (this.#outcome !== undefined || !isInactive(error))
                    this.#refuse(operation, this.#outcome ?? storeFailure(error));
            }
        });
    }

    /** Returns the text of an answer for the core. @param {string} store @param {unknown[]} answer */
    #passed(store, answer) {
        const passed =
            store === data ? answer.map((one, i) => (i % 2 ? this.#owner.values.keep(one) : one)) : answer;
        return /** @type {(string | null)[]} */ (passed);
    }

    /** Compares what a repetition has read. @param {unknown} before @param {unknown} now */
    #compare(before, now) {
        --this.#uncompared;
        if (!isEqual(before, now)) {
            this.#refusal = [
                'store-failed',
                'the store changed while a dead connection was replaced: try again',
            ];
            if (this.#transaction) abortIfPossible(this.#transaction);
            this.end(this.#refusal);
        } else if (this.#committed && this.#uncompared === 0) {
            this.#commitNow();
        }
    }

    /** @param {string} name */
    #storeOf(name) {
        return /** @type {IDBTransaction} */ (this.#transaction).objectStore(name);
    }

    /**
     * Reports that a read has failed, unless it is settled.
     *
     * @param {number} operation
     * @param {import('./failure.js').Failure} why
     */
    #refuse(operation, why) {
        if (this.#reads.delete(operation)) this.#owner.report.failed(operation, ...why);
    }

    /** Makes the request of a write. If that throws, the transaction fails. @param {() => void} issue */
    #write(issue) {
        this.#issue(() => {
            try {
                issue();
            } catch (error) {
                // A transaction that has failed keeps its failure. A transaction that had nothing to do for a
                // while has been completed by the browser: it does not contain this write, so it fails.
                if (this.#outcome === null) this.#outcome = endedBefore;
                if (this.#outcome !== undefined) return;
                const aborted = abortIfPossible(/** @type {IDBTransaction} */ (this.#transaction));
                // Otherwise its event is still to come: it was completed, or its connection has died.
                if (aborted || !isInactive(error)) this.end(storeFailure(error));
                else this.#missed = true;
            }
        });
    }

    /** Sets the outcome, unless there is one. @param {import('./failure.js').Failure | null} outcome */
    #end(outcome) {
        if (this.#outcome !== undefined) return;
        this.#outcome = outcome;
        this.#requests = [];
        this.#owner.ended(this);
        for (const operation of this.#reads) {
            this.#refuse(operation, outcome ?? ['store-failed', 'the transaction had ended']);
        }
        this.#settle();
    }

    /** Reports the outcome to the operation that waits for it. */
    #settle() {
        if (this.#commit === undefined) return;
        if (this.#outcome) this.#owner.report.failed(this.#commit, ...this.#outcome);
        else this.#owner.report.settled(this.#commit);
        this.#commit = undefined;
    }

    /**
     * Returns the failure of a transaction that lost its connection.
     *
     * @param {string} cause
     * @returns {import('./failure.js').Failure}
     */
    #lost(cause) {
        return this.#uncertain
            ? ['unknown-commit', `the connection was lost during the commit: ${cause}`]
            : ['store-failed', `the connection was lost: ${cause}`];
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

/**
 * Returns the value of a row: a text, or null if it is none; in the store of applications any value.
 *
 * @param {string} store
 * @param {unknown} value
 */
const valueOf = (store, value) => (store === data ? value : text(value));
