/** Databases that misbehave in one tab: dead connections, openings and transactions without an answer, a full disk. */

import { inFakeIndexedDB } from './fake-indexeddb-tasks.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./indexed-db.js').Databases} Databases */

/**
 * `dead-connection`: the transactions of open connections abort with an UnknownError. `hang-open`: openings are not
 * answered. `hang-transaction`: transactions that begin now are not answered. `full-disk`: transactions that write abort
 * with a QuotaExceededError when they commit.
 *
 * @typedef {'dead-connection' | 'hang-open' | 'hang-transaction' | 'full-disk'} DatabaseFault
 */

/** @type {readonly DatabaseFault[]} */
export const databaseFaults = ['dead-connection', 'hang-open', 'hang-transaction', 'full-disk'];

/** The faults of IndexedDB that a context has at the moment, and the operations that wait for their end. */
export class DatabaseTrouble {
    /** The connections that are dead. @type {WeakSet<object>} */
    #dead = new WeakSet();

    /** Whether every opening fails until the document is replaced. */
    #unusable = false;

    /** Whether the disk is full. */
    #full = false;

    /** What waits for the end of a fault that is on. @type {Map<DatabaseFault, (() => void)[]>} */
    #waiting = new Map();

    /**
     * Makes connections die.
     *
     * @param {Databases} database
     * @param {Context} context
     * @param {boolean} forGood whether only a new document can open another one
     */
    kill(database, context, forGood) {
        this.#unusable ||= forGood;
        for (const transaction of [...(database.transactions.get(context) ?? [])])
            transaction._abort('UnknownError');
        for (const connection of database.connections.get(context) ?? []) this.#dead.add(connection);
    }

    /** Whether a connection is dead. @param {object} connection */
    isDead(connection) {
        return this.#dead.has(connection);
    }

    /** Fills the disk. @returns {() => void} ends this */
    fill() {
        this.#full = true;
        return () => {
            this.#full = false;
        };
    }

    /**
     * Whether a transaction that is about to commit has written something for which there is no room.
     * @param {{ _rollbackLog: unknown[], _requests: { request: { readyState: string } }[] }} transaction
     */
    refusesCommit({ _rollbackLog, _requests }) {
        const pending = _requests.some(({ request }) => request.readyState !== 'done');
        return this.#full && !pending && _rollbackLog.length > 0;
    }

    /**
     * Begins a fault that makes openings or transactions wait.
     *
     * @param {DatabaseFault} fault
     * @returns {() => void} ends it
     */
    hang(fault) {
        const waiting = this.#waiting.get(fault) ?? [];
        this.#waiting.set(fault, waiting);
        return () => {
            if (this.#waiting.get(fault) !== waiting) return;
            this.#waiting.delete(fault);
            for (const go of waiting) go();
        };
    }

    /**
     * Lets an opening or a transaction wait while a fault lasts.
     *
     * @param {DatabaseFault} fault
     * @param {() => void} go
     * @returns {boolean} whether it waits
     */
    holds(fault, go) {
        const waiting = this.#waiting.get(fault);
        waiting?.push(go);
        return waiting !== undefined;
    }

    /**
     * Turns the success of an opening into an error if no connection can be opened here.
     *
     * @param {any} request
     * @param {any} event
     */
    refuse(request, event) {
        if (!this.#unusable || event.type !== 'success' || !request.result) return;
        const connection = request.result;
        inFakeIndexedDB(() => connection.close());
        request.result = undefined;
        request.error = new DOMException('The database of this page is dead.', 'UnknownError');
        event.type = 'error';
    }
}

/** @type {WeakMap<Context, DatabaseTrouble>} */
const troubles = new WeakMap();

/** Returns the trouble of a context. @param {Context} context */
export function troubleOf(context) {
    const trouble = troubles.get(context) ?? new DatabaseTrouble();
    troubles.set(context, trouble);
    return trouble;
}

/**
 * Begins a fault in contexts.
 *
 * @param {Databases} database
 * @param {Context[]} contexts
 * @param {DatabaseFault} fault
 * @param {boolean} forGood of `dead-connection`: whether only a new document can open another one
 * @returns {() => void} ends a fault that has an end
 */
export function breakDatabases(database, contexts, fault, forGood) {
    const ends = contexts.map((context) => {
        const trouble = troubleOf(context);
        if (fault === 'full-disk') return trouble.fill();
        if (fault !== 'dead-connection') return trouble.hang(fault);
        trouble.kill(database, context, forGood);
        return () => {};
    });
    return () => ends.forEach((end) => end());
}
