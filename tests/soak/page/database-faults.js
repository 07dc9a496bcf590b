/** Faults of IndexedDB in one page. This module is imported before the package, and replaces functions of the platform. */

/** The connections of this page. @type {Set<IDBDatabase>} */
const connections = new Set();

/** The connections whose transactions abort at once. @type {WeakSet<IDBDatabase>} */
const dead = new WeakSet();

/** Until when openings of databases are not answered, by `performance.now()`. */
let openingsWaitUntil_ms = 0;

const { open } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...given) {
    const request = open.apply(this, given);
    holdBack(request, openingsWaitUntil_ms - performance.now());
    request.addEventListener('success', () => connections.add(request.result));
    return request;
};

const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (...given) {
    const begun = transaction.apply(this, given);
    if (dead.has(this)) begun.abort();
    return begun;
};

/** The transactions whose commit() was called. @type {WeakSet<IDBTransaction>} */
const committed = new WeakSet();

const { commit } = IDBTransaction.prototype;
IDBTransaction.prototype.commit = function () {
    committed.add(this);
    commit.call(this);
};

/**
 * Delivers the success of a request later. The listener is the first of the request.
 *
 * @param {IDBOpenDBRequest} request
 * @param {number} delay_ms
 */
function holdBack(request, delay_ms) {
    if (delay_ms <= 0) return;
    let isDue = false;
    request.addEventListener('success', (event) => {
        if (isDue) return;
        event.stopImmediatePropagation();
        setTimeout(() => {
            isDue = true;
            request.dispatchEvent(new Event('success'));
        }, delay_ms);
    });
}

/**
 * Hides an event from the package. A browser that delivers no answer waits for the rest of a transaction. Here the event
 * was dispatched, so the browser would commit what the package has requested so far, unless the transaction is aborted.
 *
 * @param {Event} event
 */
function swallow(event) {
    event.stopImmediatePropagation();
    const { transaction: cut } = /** @type {Partial<IDBRequest>} */ (event.target);
    if (event.type === 'success' && cut && !committed.has(cut)) cut.abort();
}

export const databaseFaults = {
    /** Makes all transactions of the present connections abort, without an event of the connection. */
    killConnections() {
        for (const connection of connections) dead.add(connection);
        connections.clear();
    },

    /** Closes the present connections, with the event by which a browser reports that. */
    closeConnections() {
        for (const connection of connections) {
            connection.close();
            connection.dispatchEvent(new Event('close'));
        }
        connections.clear();
    },

    /**
     * Never answers the present connections: no request and no transaction of them gets an event any more. A transaction
     * is committed if its commit() was called.
     */
    silenceConnections() {
        for (const connection of connections)
            for (const type of ['success', 'error', 'complete', 'abort'])
                connection.addEventListener(type, swallow, { capture: true });
        connections.clear();
    },

    /**
     * Answers no opening of a database for a time. Present connections die, so that there is an opening.
     *
     * @param {number} duration_ms
     */
    delayOpenings(duration_ms) {
        openingsWaitUntil_ms = performance.now() + duration_ms;
        databaseFaults.killConnections();
    },
};
