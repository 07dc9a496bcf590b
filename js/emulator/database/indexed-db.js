/**
 * IndexedDB, by fake-indexeddb, an optional peer dependency. Each step of a transaction is a task of the tab that
 * began it, so it is subject to the schedule and the faults of the origin.
 */

import { invalid, TabacusError } from '../../common/errors.js';
import { ConnectionQueues, inFakeIndexedDB, wrapConnection } from './fake-indexeddb-tasks.js';
import {
    abandon,
    countStep,
    reportingDispatch,
    scheduled,
    setOf,
    notify,
    upgrading,
    workOf,
} from './transactions.js';
import { troubleOf } from './troubles.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * The databases of one origin.
 * @typedef {object} Databases
 * @property {Record<string, any>} interfaces by their names on a global object
 * @property {any} shared a factory whose databases the factories of all contexts share
 * @property {(connection: any) => void} forceClose
 * @property {Map<Context, Set<any>>} connections the open connections of each context
 * @property {Map<Context, Set<any>>} transactions the unfinished transactions of each context
 * @property {number} steps how many steps of openings and of transactions the emulator has seen; 0 before the first use
 * @property {number} quiescentAt what `steps` was when the databases were last at rest
 * @property {Map<Context, Set<any>>} events the events that are being dispatched in each context
 */

/** The methods of transactions that the emulator wraps. Not every version of fake-indexeddb has them. */
const steps = ['_start', '_abort', '_markFinished', '_execRequestAsync'];

/**
 * Returns fake-indexeddb if the emulator can use it.
 *
 * @param {any} fakeIndexedDB
 * @returns {any}
 * @throws {TabacusError} `invalid-argument`; `unavailable`
 */
export function checkFakeIndexedDB(fakeIndexedDB) {
    const { IDBFactory, IDBTransaction, forceCloseDatabase } = Object(fakeIndexedDB);
    if (typeof IDBFactory !== 'function' || typeof IDBTransaction !== 'function')
        throw invalid('fakeIndexedDB', fakeIndexedDB, 'the module fake-indexeddb');
    if (
        typeof forceCloseDatabase === 'function' &&
        steps.every((step) => typeof IDBTransaction.prototype[step] === 'function')
    )
        return fakeIndexedDB;
    throw new TabacusError(
        'unavailable',
        'the emulator cannot work with this version of fake-indexeddb: install one from 6.2.6 on, and below 7',
    );
}

/** Imports fake-indexeddb. @returns {Promise<any>} resolves to undefined if it is not installed */
export async function loadFakeIndexedDB() {
    const fakeIndexedDB = await import('fake-indexeddb').catch(() => undefined);
    return fakeIndexedDB && checkFakeIndexedDB(fakeIndexedDB);
}

/** @param {any} fakeIndexedDB @returns {Databases | undefined} */
export function databasesOf(fakeIndexedDB) {
    if (!fakeIndexedDB) return undefined;
    const interfaces = Object.fromEntries(
        Object.entries(fakeIndexedDB).filter(([name]) => /^IDB[A-Z]/.test(name)),
    );
    return {
        interfaces,
        shared: Object.assign(new fakeIndexedDB.IDBFactory(), { _connectionQueues: new ConnectionQueues() }),
        forceClose: (connection) => inFakeIndexedDB(() => fakeIndexedDB.forceCloseDatabase(connection)),
        connections: new Map(),
        transactions: new Map(),
        steps: 0,
        quiescentAt: 0,
        events: new Map(),
    };
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
            if (!context.active) return new database.interfaces.IDBOpenDBRequest();
            const request = watched(
                context,
                inFakeIndexedDB(() => begin(...given)),
            );
            const format = operation === 'open' ? context.tab.recordFormat : undefined;
            return format?.opening(request, given[0]) ?? request;
        };
    }
    const databases = factory.databases.bind(factory);
    factory.databases = async () => {
        context.checkStorable('indexedDB');
        const found = await databases();
        return new Promise((resolve) => context.queueTask(() => resolve(found), 'database'));
    };
    return factory;
}

/**
 * Lets an opening go on beside the schedule; time stands still meanwhile.
 *
 * @param {Context} context
 * @param {any} request
 */
function watched(context, request) {
    context.origin.opensDatabases = true;
    countStep(context);
    const work = workOf(context.origin);
    const dispatch = reportingDispatch(context, request);
    request.dispatchEvent = (/** @type {any} */ event) => {
        const { type } = event;
        if (type === 'upgradeneeded') {
            connected(context, request.result);
            return upgrading(context, request.transaction, {
                work,
                dispatch: () => (context.beginTask(), dispatch(event)),
            });
        }
        work.stop();
        const trouble = troubleOf(context);
        const answer = () => {
            trouble.refuse(request, event);
            if (type === 'success' && request.result) connected(context, request.result);
            return notify(context, () => dispatch(event));
        };
        return trouble.holds('hang-open', answer) || answer();
    };
    return request;
}

/** @param {Context} context @param {any} connection */
function connected(context, connection) {
    const { database } = context.origin;
    if (!database) return;
    const open = setOf(database.connections, context);
    if (open.has(connection)) return;
    open.add(connection);
    wrapConnection(connection);
    const dispatch = reportingDispatch(context, connection);
    connection.dispatchEvent = (/** @type {any} */ event) => notify(context, () => dispatch(event));
    const begin = connection.transaction.bind(connection);
    connection.transaction = (/** @type {any[]} */ ...given) =>
        scheduled(context, begin(...given), troubleOf(context));
    if (!context.alive) database.forceClose(connection);
}

/**
 * Ends the databases of a killed context: none of its handlers runs, and its unfinished transactions have no effect.
 *
 * @param {Context} context
 */
export function endDatabases(context) {
    const { database } = context.origin;
    for (const event of database?.events.get(context) ?? []) event.stopImmediatePropagation();
    for (const transaction of database?.transactions.get(context) ?? []) abandon(transaction);
    for (const connection of database?.connections.get(context) ?? []) {
        connection.dispatchEvent = () => true;
        database?.forceClose(connection);
    }
    database?.transactions.delete(context);
    database?.connections.delete(context);
    database?.events.delete(context);
}

/**
 * Closes connections with a `close` event for each, and aborts their transactions.
 *
 * @param {Databases} database
 * @param {Iterable<Context>} contexts
 */
export function closeConnections(database, contexts) {
    for (const context of contexts) {
        for (const transaction of database.transactions.get(context) ?? []) transaction._abort('AbortError');
        for (const connection of database.connections.get(context) ?? []) database.forceClose(connection);
        database.connections.delete(context);
    }
}

/** Deletes every database. @param {Databases} database */
export function loseDatabases(database) {
    closeConnections(database, database.connections.keys());
    database.shared._databases.clear();
}

/**
 * Checks that a value is a valid key (IndexedDB §2.4).
 *
 * @param {Databases} database
 * @param {unknown} key
 * @throws {TabacusError} `invalid-argument`
 */
export function checkKey(database, key) {
    try {
        database.shared.cmp(key, key);
    } catch {
        throw invalid('record', key, 'a key that databases have');
    }
}
