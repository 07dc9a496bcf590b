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

/** @param {Event} event */
const swallow = (event) => event.stopImmediatePropagation();

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

    /** Commits the transactions of the present connections, but never answers: no request of them gets an event any more. */
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
