/**
 * The tasks of fake-indexeddb. It queues each by the global setImmediate() that it finds at the moment, which may be a
 * fake whose time stands still, and browsers have none. So the emulator replaces that function while the library's own
 * code runs, and at no other time: neither scripts nor handlers see the replacement.
 */

import { hostTask, isHostImmediate } from '../common/host-task.js';

const name = 'setImmediate';

/** @param {() => void} task */
const queueTask = (task) => hostTask(() => inFakeIndexedDB(task), true);

/** The property of the global object meanwhile. @type {PropertyDescriptor} */
const replacement = { value: queueTask, writable: true, configurable: true, enumerable: true };

/** The property that is replaced at the moment. `property` is undefined if there is none. @type {{ property: PropertyDescriptor | undefined } | undefined} */
let replaced;

function replace() {
    replaced = { property: Object.getOwnPropertyDescriptor(globalThis, name) };
    Object.defineProperty(globalThis, name, replacement);
}

function restore() {
    const { property } = /** @type {{ property: PropertyDescriptor | undefined }} */ (replaced);
    replaced = undefined;
    if (property) Object.defineProperty(globalThis, name, property);
    else Reflect.deleteProperty(globalThis, name);
}

/**
 * Calls a function of fake-indexeddb, whose tasks will be tasks of the host.
 *
 * @template T
 * @param {() => T} call
 * @returns {T}
 */
export function inFakeIndexedDB(call) {
    if (replaced || isHostImmediate()) return call();
    replace();
    try {
        return call();
    } finally {
        restore();
    }
}

/**
 * Calls the handlers of a script from inside fake-indexeddb.
 *
 * @template T
 * @param {() => T} call
 * @returns {T}
 */
export function outsideOfFakeIndexedDB(call) {
    if (!replaced) return call();
    restore();
    try {
        return call();
    } finally {
        replace();
    }
}

/** @param {any} object @param {string} method replaces a method by one that calls it in fake-indexeddb */
export function wrapMethod(object, method) {
    const own = object[method];
    object[method] = (/** @type {any[]} */ ...given) => inFakeIndexedDB(() => own.apply(object, given));
}

/** The connection queues of fake-indexeddb, which are chains of promises. Their tasks run in microtasks. */
export class ConnectionQueues extends Map {
    /** @param {string} database @returns {any} */
    get(database) {
        const queue = super.get(database) ?? Promise.resolve();
        return { then: (/** @type {() => unknown} */ task) => queue.then(() => inFakeIndexedDB(task)) };
    }
}

/** fake-indexeddb's own listeners of a transaction. */
class WrappedListeners extends Map {
    /** @param {string} type @param {() => void} listener */
    set(type, listener) {
        return super.set(type, () => inFakeIndexedDB(listener));
    }
}

/** Wraps what queues tasks in a transaction of fake-indexeddb. @param {any} transaction */
export function wrapTransaction(transaction) {
    for (const method of ['_start', '_abort', '_markFinished']) wrapMethod(transaction, method);
    const listeners = transaction._prioritizedListeners;
    transaction._prioritizedListeners = new WrappedListeners(listeners);
}

const raws = new WeakSet();

/** Wraps what queues tasks in a connection of fake-indexeddb, and in its database. @param {any} connection */
export function wrapConnection(connection) {
    for (const method of ['close', 'transaction']) wrapMethod(connection, method);
    const raw = connection._rawDatabase;
    if (raws.has(raw)) return;
    raws.add(raw);
    wrapMethod(raw, 'processTransactions');
}
