/** The global object of a context, with the properties of a page or a worker of one origin. */

import { urlOf } from './object-urls.js';
import { storageOf } from './context-storage.js';
import { HOSTED, HOSTED_OPERATIONS, languageProperties } from './host-properties.js';
import { broadcastChannelInterface } from '../messages/broadcast-channel.js';
import { abortSignalOf, dateOf, performanceOf } from './clock.js';
import {
    beforeUnloadEventInterface,
    errorEventInterface,
    pageTransitionEventInterface,
    QuotaExceededError,
    storageEventInterface,
} from '../../platform/events.js';
import { documentOf } from '../dom/document.js';
import { WINDOW_HANDLERS } from '../dom/element.js';
import { databaseOf } from '../database/indexed-db.js';
import { defineHandlers, idlInterface, internal, onlyInternal, plainly } from '../../platform/web-idl.js';
import { lockInterface, lockManagerInterface } from '../../platform/lock-manager.js';
import { messageEventInterface } from '../messages/message-event.js';
import { storageManagerInterface } from './storage-manager.js';
import { locationOf, navigatorOf } from './navigator.js';
import { COMMON_OPERATIONS, madeOf, WINDOW_OPERATIONS, WORKER_OPERATIONS } from './operations.js';
import { cryptoOf } from '../host/crypto.js';
import { hostInterfaces, isHosted } from '../host/host-interfaces.js';
import { tracked, trackKey } from '../host/host-work.js';
import { promiseRejectionEventInterface } from './promise-rejection-event.js';
import { messageChannelInterface, Port } from '../messages/port.js';
import { storageInterface } from '../../platform/storage-interface.js';
import { belongsTo, OuterTarget } from '../dom/event-target.js';
import { workerInterface } from '../worker.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * The exceptions in the event handler processing algorithm (HTML §8.1.8.1).
 *
 * @type {Record<string, import('../../platform/web-idl.js').Processing>}
 */
const PARTICULAR = {
    error(handler, target, event) {
        if (!('lineno' in event)) return plainly(handler, target, event);
        const { message, filename, lineno, colno, error } = event;
        if (handler.call(target, message, filename, lineno, colno, error) === true) event.preventDefault();
    },
    beforeunload(handler, target, event) {
        const result = handler.call(target, event);
        if (result === null || result === undefined) return;
        event.preventDefault();
        if (event.returnValue === '') event.returnValue = `${result}`;
    },
};

/** The key of the property that holds the context of a global object. */
const behind = Symbol('context');

/** The read-only attributes, which assignment does not change (Web IDL §3.7.6). */
const READONLY = new Set([
    'window',
    'localStorage',
    'sessionStorage',
    'navigator',
    'document',
    'location',
    'indexedDB',
    'crypto',
]);

/** @param {any} global @returns {Context} */
const contextOf = (global) => global[behind];

/** @param {Context} context @param {string} name @param {(context: Context) => unknown} make @returns {any} */
function madeOnce(context, name, make) {
    const { made } = context;
    if (!made.has(name)) made.set(name, make(context));
    return made.get(name);
}

/**
 * The original value of a lazy property, even if the page has replaced it.
 *
 * @param {Context} context
 * @param {string} name
 */
export const originalOf = (context, name) =>
    madeOnce(context, name, /** @type {(context: Context) => unknown} */ (MAKERS[name]));

/**
 * Defines properties whose values are made for each global object at their first read, since opening a tab must be
 * cheap.
 *
 * @param {object} prototype the prototype of the global objects
 * @param {Record<string, (context: Context) => unknown>} makers
 */
function lazily(prototype, makers) {
    for (const [name, make] of Object.entries(makers)) {
        const writable = !READONLY.has(name);
        const define = (/** @type {any} */ global, /** @type {unknown} */ value) =>
            Object.defineProperty(global, name, { value, writable, configurable: true, enumerable: false });
        /** @this {any} @param {unknown} value */
        const set = function (value) {
            define(this, value);
        };
        Object.defineProperty(prototype, name, {
            configurable: true,
            enumerable: false,
            /** @this {any} */
            get() {
                const value = madeOnce(contextOf(this), name, make);
                define(this, value);
                return value;
            },
            set: writable ? set : undefined,
        });
    }
}

/** The properties of windows and workers. @type {Record<string, (context: Context) => unknown>} */
const COMMON = {
    self: ({ window }) => window,
    globalThis: ({ window }) => window,
    BroadcastChannel: broadcastChannelInterface,
    QuotaExceededError: () => QuotaExceededError,
    ErrorEvent: errorEventInterface,
    MessageChannel: messageChannelInterface,
    MessageEvent: messageEventInterface,
    MessagePort: () => Port,
    PromiseRejectionEvent: promiseRejectionEventInterface,
    Worker: workerInterface,
    navigator: (context) => navigatorOf(context, isSecure(context.url)),
    crypto: (context) => cryptoOf(context, isSecure(context.url)),
    Crypto: (context) => context.original('crypto').constructor,
    AbortSignal: abortSignalOf,
    URL: urlOf,
    Math: ({ random, origin }) => {
        const draw = () => {
            origin.drawsRandom = true;
            return random.fraction();
        };
        return Object.create(Math, { random: { value: draw, writable: true, configurable: true } });
    },
    Date: dateOf,
    performance: performanceOf,
    indexedDB: databaseOf,
    origin: ({ originText }) => originText,
    isSecureContext: ({ url }) => isSecure(url),
    crossOriginIsolated: () => false,
    location: locationOf,
};

/** The properties that only secure contexts have. @type {Record<string, (context: Context) => unknown>} */
const SECURE = {
    Lock: lockInterface,
    LockManager: lockManagerInterface,
    StorageManager: storageManagerInterface,
    SubtleCrypto: (context) => context.original('crypto').subtle?.constructor,
};

/** Whether an origin is potentially trustworthy (Secure Contexts §3.1). @param {URL} url */
function isSecure({ protocol, hostname }) {
    if (protocol === 'https:' || protocol === 'wss:') return true;
    return /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost\.?)$/.test(hostname);
}

/** The properties that only windows have. @type {Record<string, (context: Context) => unknown>} */
const WINDOW = {
    window: ({ window }) => window,
    frames: ({ window }) => window,
    document: documentOf,
    Storage: storageInterface,
    StorageEvent: storageEventInterface,
    PageTransitionEvent: pageTransitionEventInterface,
    BeforeUnloadEvent: beforeUnloadEventInterface,
    localStorage: (context) => storageOf(context, 0),
    sessionStorage: (context) => storageOf(context, context.session),
    Navigator: (context) => context.original('navigator').constructor,
};

/** @type {Record<string, (context: Context) => unknown>} */
const MAKERS = { ...COMMON, ...SECURE, ...WINDOW };

/**
 * The properties of windows that change. A window that was removed has no parent, top or opener (HTML §7.2.2.3).
 *
 * @type {Record<string, (context: Context) => unknown>}
 */
const CHANGING = {
    parent: ({ parent, window, detached }) => (detached ? null : (parent?.window ?? window)),
    top: ({ tab, detached }) => (detached ? null : tab.window),
    opener: ({ tab: { openedBy }, parent }) =>
        parent || !openedBy || openedBy.detached ? null : openedBy.window,
    // DOM §2.3
    event: ({ event }) => event,
    closed: ({ tab, detached }) => tab.closed || detached,
    length: (context) => context.tab.framesOf(context).length,
    frameElement: ({ element, detached, opaque }) => (detached || opaque !== undefined ? null : element),
};

/** The changing properties that an assignment replaces (Web IDL §3.3.12, `[Replaceable]`). */
const REPLACEABLE = new Set(['parent', 'opener', 'length', 'event']);

/** The interfaces of IndexedDB, which exist if fake-indexeddb is installed. */
const DATABASES = [
    'IDBCursor',
    'IDBCursorWithValue',
    'IDBDatabase',
    'IDBFactory',
    'IDBIndex',
    'IDBKeyRange',
    'IDBObjectStore',
    'IDBOpenDBRequest',
    'IDBRequest',
    'IDBTransaction',
    'IDBVersionChangeEvent',
];

/**
 * @param {string} name
 * @param {readonly string[]} handlers
 * @param {boolean} secure
 */
function globalInterface(name, handlers, secure) {
    class Global extends OuterTarget {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
            super();
        }
    }
    const { prototype } = Global;
    const host = /** @type {any} */ (globalThis);
    for (const name of [...HOSTED, ...HOSTED_OPERATIONS]) {
        if (!(name in host)) continue;
        const value = HOSTED_OPERATIONS.includes(name)
            ? Object.defineProperty(host[name].bind(host), 'name', { value: name })
            : host[name];
        Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
    }
    lazily(prototype, {
        ...COMMON,
        ...hostInterfaces(),
        ...madeOf(COMMON_OPERATIONS),
        ...(secure && SECURE),
    });
    lazily(
        prototype,
        Object.fromEntries(DATABASES.map((key) => [key, ({ origin }) => origin.database?.interfaces[key]])),
    );
    Object.defineProperty(prototype, trackKey, {
        /** @this {any} */
        get() {
            return (/** @type {Promise<unknown>} */ work, /** @type {string} */ what) => {
                const context = contextOf(this);
                return tracked(context, context.tab.missingChunks.load(work, what), what);
            };
        },
    });
    defineHandlers(prototype, handlers, PARTICULAR);
    const shape = { inherited: Object.keys(Object.getOwnPropertyDescriptors(prototype)) };
    return exposed(idlInterface(Global, name, shape), prototype);
}

/**
 * @template {Function} Interface
 * @param {Interface} Interface
 * @param {object} prototype gets the interface as a property
 */
function exposed(Interface, prototype) {
    Object.defineProperty(prototype, Interface.name, {
        value: Interface,
        writable: true,
        configurable: true,
    });
    return Interface;
}

/** @typedef {Record<string, new (key: symbol) => EventTarget>} Interfaces by the kinds of contexts */

/** The interfaces of insecure contexts, and of secure ones. @type {(Interfaces | undefined)[]} */
const interfaces = [];

/**
 * The interfaces, made at the first use, so that importing the emulator costs little.
 *
 * @param {boolean} secure
 * @returns {Interfaces}
 */
const globalInterfaces = (secure) => (interfaces[Number(secure)] ??= makeInterfaces(secure));

/** @param {boolean} secure */
function makeInterfaces(secure) {
    const Window = globalInterface('Window', WINDOW_HANDLERS, secure);
    lazily(Window.prototype, { ...WINDOW, ...madeOf(WINDOW_OPERATIONS) });
    for (const [name, read] of Object.entries(CHANGING)) defineChanging(Window.prototype, name, read);
    /** @this {any} */
    const getName = function () {
        return contextOf(this).name;
    };
    /** @this {any} @param {unknown} name */
    const setName = function (name) {
        contextOf(this).name = `${name}`;
    };
    Object.defineProperty(Window.prototype, 'name', { get: getName, set: setName, configurable: true });
    const Worker = globalInterface(
        'WorkerGlobalScope',
        ['error', 'rejectionhandled', 'unhandledrejection'],
        secure,
    );
    lazily(Worker.prototype, {
        ...madeOf(WORKER_OPERATIONS),
        name: ({ name }) => name,
        WorkerNavigator: (context) => context.original('navigator').constructor,
    });
    defineHandlers(Worker.prototype, ['message', 'messageerror']);
    return { window: Window, worker: Worker };
}

/** The host's interfaces that others inherit from. They are own properties of each global object (Web IDL §3.7.1). */
const PARENTS = new Set(['DOMException', 'Event', 'EventTarget']);

/**
 * The operations that are own properties of each global object, as Web IDL §3.7.3 requires of all: fake timers look
 * for this one there. The others become own properties when they are read, since tabs must be cheap.
 */
const OWN_OPERATIONS = new Set(['queueMicrotask']);

/**
 * The interface objects that are data properties from the start, as Web IDL §3.7.3 requires of all. The others are
 * made when they are read, since tabs must be cheap.
 */
const EARLY = new Set(['Storage', 'StorageEvent', 'Lock', 'LockManager']);

/** @typedef {{ properties: PropertyDescriptorMap, early: string[] }} OwnProperties */

/**
 * The own properties of each global object, by the interface that its kind shares.
 *
 * @type {WeakMap<Function, OwnProperties>}
 */
const own = new WeakMap();

/**
 * The own properties of a global object: those of ECMAScript §19, and the interface objects, which are made for each
 * global object at their first read (Web IDL §3.7.3).
 *
 * @param {Function} Shared
 */
function ownOf(Shared) {
    const known = own.get(Shared);
    if (known) return known;
    const made = { properties: languageProperties(), early: /** @type {string[]} */ ([]) };
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(Shared.prototype))) {
        const isInterface = /^[A-Z]/.test(name) && !isHosted(name) && (property.get || PARENTS.has(name));
        if (!isInterface && !OWN_OPERATIONS.has(name)) continue;
        if (EARLY.has(name)) made.early.push(name);
        else made.properties[name] = property;
        delete Shared.prototype[name];
    }
    own.set(Shared, made);
    return made;
}

/** @param {object} prototype @param {string} name @param {(context: Context) => unknown} read */
function defineChanging(prototype, name, read) {
    /** @this {any} */
    const get = function () {
        return read(contextOf(this));
    };
    /** @this {any} @param {unknown} value */
    const set = function (value) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
    };
    Object.defineProperty(prototype, name, {
        get,
        set: REPLACEABLE.has(name) ? set : undefined,
        configurable: true,
    });
}

/** The names of the interfaces of global objects. */
const NAMES = { window: 'Window', worker: 'DedicatedWorkerGlobalScope' };

/**
 * Makes a global object. Its interface is its own, and inherits from one that all of its kind share.
 *
 * @param {Context} context
 */
export function makeGlobal(context) {
    const Shared = /** @type {new (key: symbol) => EventTarget} */ (
        globalInterfaces(isSecure(context.url))[context.kind]
    );
    class Global extends Shared {}
    const { properties, early } = ownOf(Shared);
    const global = Object.defineProperties(new Global(internal), properties);
    exposed(idlInterface(Global, NAMES[context.kind]), global);
    belongsTo(Object.defineProperty(global, behind, { value: context }), context);
    // To change the kind of an existing property is slow, because engines then change the layout of the object. So
    // these are added as new properties.
    for (const name of early)
        Object.defineProperty(global, name, {
            value: originalOf(context, name),
            writable: true,
            configurable: true,
        });
    return global;
}
