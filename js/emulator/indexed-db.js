/**
 * IndexedDB: fake-indexeddb, an optional peer, of which each step of a transaction is a task of the tab that
 * began it, on the origin's schedule and under its faults.
 */

import { source, where } from './core.js';

/** @typedef {import('./context.js').Context} Context */

/**
 * One origin's databases.
 * @typedef {object} Databases
 * @property {Record<string, any>} interfaces by their names on a global object
 * @property {any} shared a factory, which the contexts' share their databases with
 * @property {(connection: any) => void} forceClose
 * @property {Map<Context, Set<any>>} connections that are open
 * @property {Map<Context, Set<any>>} transactions that are not finished
 */

/** @returns {Promise<any>} nothing where the peer is not installed */
export async function loadPeer() {
    try {
        return await import('fake-indexeddb');
    } catch {
        return undefined;
    }
}

/** @param {any} peer @returns {Databases | undefined} */
export function databasesOf(peer) {
    if (!peer) return undefined;
    const interfaces = Object.fromEntries(Object.entries(peer).filter(([name]) => /^IDB[A-Z]/.test(name)));
    return {
        interfaces,
        shared: new peer.IDBFactory(),
        forceClose: peer.forceCloseDatabase,
        connections: new Map(),
        transactions: new Map(),
    };
}

/** @template T @param {Map<Context, Set<T>>} map @param {Context} context */
function setOf(map, context) {
    const set = map.get(context) ?? new Set();
    map.set(context, set);
    return set;
}

/** @param {Context} context @returns {any} */
export function databaseOf(context) {
    const { database } = context.origin;
    if (!database) return undefined;
    const factory = new database.interfaces.IDBFactory();
    factory._databases = database.shared._databases;
    factory._connectionQueues = database.shared._connectionQueues;
    for (const operation of /** @type {const} */ (['open', 'deleteDatabase'])) {
        const begin = factory[operation].bind(factory);
        factory[operation] = (/** @type {any[]} */ ...given) => {
            context.checkStorable('indexedDB');
            return watched(context, begin(...given));
        };
    }
    const databases = factory.databases.bind(factory);
    factory.databases = async () => {
        context.checkStorable('indexedDB');
        return databases();
    };
    return factory;
}

/** Opening happens beside the schedule, while time stands still. @param {Context} context @param {any} request */
function watched(context, request) {
    const { origin } = context;
    const dispatch = request.dispatchEvent.bind(request);
    const done = origin.beginWork();
    request.dispatchEvent = (/** @type {any} */ event) => {
        if (event.type !== 'upgradeneeded') done();
        if (event.type === 'success' && request.result) connected(context, request.result);
        if (!context.alive) return true;
        context.beginTask();
        return dispatch(event);
    };
    return request;
}

/** @param {Context} context @param {any} connection */
function connected(context, connection) {
    const { database } = context.origin;
    if (!database) return;
    setOf(database.connections, context).add(connection);
    if (!context.alive) database.forceClose(connection);
    const begin = connection.transaction.bind(connection);
    connection.transaction = (/** @type {any[]} */ ...given) => scheduled(context, begin(...given));
}

/** @param {Context} context @param {any} transaction */
function scheduled(context, transaction) {
    const { database } = context.origin;
    const open = setOf(/** @type {Databases} */ (database).transactions, context);
    const done = context.origin.beginWork();
    const [step, finish] = [transaction._start.bind(transaction), transaction._markFinished.bind(transaction)];
    open.add(transaction);
    transaction._start = () => {
        transaction._started = true; // or it would be started once more before its turn comes
        context.queueTask(step, source.database);
    };
    transaction._markFinished = () => {
        open.delete(transaction);
        done();
        const names = [...transaction._scope].join(', ');
        context.rules.tell(context.id, where.transaction, () => `${transaction.error ? 'aborts' : 'ends'} a transaction over ${names}`);
        finish();
    };
    return transaction;
}

/** The context is dead: none of its handlers runs, and what it had not finished never happened. @param {Context} context */
export function endDatabases(context) {
    const { database } = context.origin;
    for (const transaction of database?.transactions.get(context) ?? []) {
        transaction.dispatchEvent = () => true;
        transaction._abort(null);
        transaction.db._rawDatabase.processTransactions();
    }
    for (const connection of database?.connections.get(context) ?? []) {
        connection.dispatchEvent = () => true;
        database?.forceClose(connection);
    }
    database?.transactions.delete(context);
    database?.connections.delete(context);
}

/** Connections are dropped, by a `close` event each; what was not committed aborts. @param {Databases} database @param {Iterable<Context>} contexts */
export function closeConnections(database, contexts) {
    for (const context of contexts) {
        for (const transaction of database.transactions.get(context) ?? []) transaction._abort('AbortError');
        for (const connection of database.connections.get(context) ?? []) database.forceClose(connection);
        database.connections.delete(context);
    }
}

/** Every database is gone. @param {Databases} database */
export function loseDatabases(database) {
    closeConnections(database, database.connections.keys());
    database.shared._databases.clear();
}
