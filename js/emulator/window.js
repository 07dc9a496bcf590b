/** The global object of a context, with what a page or a worker of one origin has. */

import { broadcastChannelInterface } from './channel.js';
import { abortSignalOf, dateOf, performanceOf } from './clock.js';
import { pageTransitionEventInterface, QuotaExceededError, storageEventInterface } from './events.js';
import { databaseOf } from './indexed-db.js';
import { defineHandlers, internal } from './idl.js';
import { lockInterface, lockManagerInterface } from './locks.js';
import { makeStorage, storageInterface } from './storage.js';
import { belongsTo, ReportingTarget } from './target.js';

/** @typedef {import('./context.js').Context} Context */

/** What a tab has of its host as it is: interfaces without state of their own. */
const HOSTED = [
    'AbortController', 'Blob', 'CompressionStream', 'CustomEvent', 'DOMException', 'DecompressionStream',
    'Event', 'EventTarget', 'FormData', 'Headers', 'MessageChannel', 'MessageEvent', 'MessagePort', 'ReadableStream',
    'Request', 'Response', 'TextDecoder', 'TextEncoder', 'TransformStream', 'URL', 'URLSearchParams', 'WebAssembly',
    'WritableStream', 'atob', 'btoa', 'console', 'structuredClone', 'queueMicrotask', 'fetch',
];

const WINDOW_HANDLERS = ['storage', 'message', 'messageerror', 'error', 'unhandledrejection', 'pagehide', 'pageshow', 'beforeunload', 'unload', 'load', 'focus', 'blur', 'online', 'offline'];

/** Of a global object. */
const behind = Symbol('context');

/** @param {any} global @returns {Context} */
const contextOf = (global) => global[behind];

/**
 * Properties that are made for each global object, at the first look: opening a tab must be cheap.
 *
 * @param {object} prototype of global objects
 * @param {Record<string, (context: Context) => unknown>} makers
 */
function lazily(prototype, makers) {
    for (const [name, make] of Object.entries(makers)) {
        const define = (/** @type {any} */ global, /** @type {unknown} */ value) =>
            Object.defineProperty(global, name, { value, writable: true, configurable: true, enumerable: false });
        Object.defineProperty(prototype, name, {
            configurable: true,
            enumerable: false,
            /** @this {any} */
            get() {
                const value = make(contextOf(this));
                define(this, value);
                return value;
            },
            /** @this {any} @param {unknown} value */
            set(value) {
                define(this, value);
            },
        });
    }
}

/** What windows and workers have. @type {Record<string, (context: Context) => unknown>} */
const COMMON = {
    self: ({ window }) => window,
    globalThis: ({ window }) => window,
    Lock: lockInterface,
    LockManager: lockManagerInterface,
    BroadcastChannel: broadcastChannelInterface,
    QuotaExceededError: () => QuotaExceededError,
    navigator: navigatorOf,
    crypto: cryptoOf,
    AbortSignal: abortSignalOf,
    Math: ({ chance }) => Object.create(Math, { random: { value: () => chance.fraction(), writable: true, configurable: true } }),
    Date: dateOf,
    performance: performanceOf,
    setTimeout: ({ timers }) => (/** @type {any} */ handler, /** @type {any} */ timeout, /** @type {any[]} */ ...given) => timers.set(handler, timeout, given, false),
    setInterval: ({ timers }) => (/** @type {any} */ handler, /** @type {any} */ timeout, /** @type {any[]} */ ...given) => timers.set(handler, timeout, given, true),
    clearTimeout: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    clearInterval: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    reportError: (context) => (/** @type {unknown} */ error) => context.report(error),
    indexedDB: databaseOf,
    origin: ({ url }) => url.origin,
    isSecureContext: ({ url }) => url.protocol === 'https:' || url.hostname === 'localhost' || url.hostname === '127.0.0.1',
    crossOriginIsolated: () => false,
};

/** What only windows have. @type {Record<string, (context: Context) => unknown>} */
const WINDOW = {
    window: ({ window }) => window,
    frames: ({ window }) => window,
    document: (context) => context.tab.documentOf(context),
    location: ({ url }) => locationOf(url),
    Storage: storageInterface,
    StorageEvent: storageEventInterface,
    PageTransitionEvent: pageTransitionEventInterface,
    localStorage: (context) => makeStorage(context, 0, context.window.Storage),
    sessionStorage: (context) => makeStorage(context, context.session, context.window.Storage),
    name: () => '',
    requestAnimationFrame: ({ timers, window }) => (/** @type {(time: number) => void} */ call) =>
        timers.set(() => call(window.performance.now()), 16, [], false),
    cancelAnimationFrame: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    requestIdleCallback: ({ timers }) => (/** @type {(deadline: object) => void} */ call) =>
        timers.set(() => call({ didTimeout: false, timeRemaining: () => 50 }), 1, [], false),
    cancelIdleCallback: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    postMessage: postMessageTo,
    open: ({ origin, tab }) => (/** @type {any} */ url = '') => origin.openTab({ opener: tab, url: `${url}` }).window,
    close: ({ tab }) => () => void tab.close(),
};

/** What only windows have, and changes. @type {Record<string, (context: Context) => unknown>} */
const CHANGING = {
    parent: ({ parent, window }) => parent?.window ?? window,
    top: ({ tab }) => tab.window,
    opener: ({ tab }) => tab.opener?.window ?? null,
    closed: ({ tab }) => tab.closed,
    length: ({ tab }) => tab.frames.length,
};

/** IndexedDB's interfaces, where the peer is there. */
const DATABASES = ['IDBCursor', 'IDBCursorWithValue', 'IDBDatabase', 'IDBFactory', 'IDBIndex', 'IDBKeyRange', 'IDBObjectStore', 'IDBOpenDBRequest', 'IDBRequest', 'IDBTransaction', 'IDBVersionChangeEvent'];

/** @param {string} name @param {readonly string[]} handlers */
function globalInterface(name, handlers) {
    class Global extends ReportingTarget {}
    const { prototype } = Global;
    for (const hosted of HOSTED) {
        if (!(hosted in globalThis)) continue;
        const value = /** @type {any} */ (globalThis)[hosted];
        Object.defineProperty(prototype, hosted, { value, writable: true, configurable: true });
    }
    lazily(prototype, COMMON);
    lazily(prototype, Object.fromEntries(DATABASES.map((key) => [key, ({ origin }) => origin.database?.interfaces[key]])));
    defineHandlers(prototype, handlers);
    Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
    return Global;
}

/** @type {Record<string, new () => EventTarget> | undefined} */
let interfaces;

/** Made when the first is asked for: importing us must not cost what is not used. */
function globalInterfaces() {
    if (interfaces) return interfaces;
    const Window = globalInterface('Window', WINDOW_HANDLERS);
    lazily(Window.prototype, WINDOW);
    for (const [name, get] of Object.entries(CHANGING)) {
        /** @this {any} */
        const look = function () {
            return get(contextOf(this));
        };
        Object.defineProperty(Window.prototype, name, { get: look, configurable: true });
    }
    interfaces = { window: Window, worker: globalInterface('DedicatedWorkerGlobalScope', ['message', 'messageerror', 'error']) };
    return interfaces;
}

/** @param {Context} context */
export function makeGlobal(context) {
    const Global = /** @type {new () => EventTarget} */ (globalInterfaces()[context.kind]);
    return belongsTo(Object.defineProperty(new Global(), behind, { value: context }), context);
}

/** HTML §9.3.3: window.postMessage(), to another window of the origin or to oneself. @param {Context} context */
function postMessageTo(context) {
    return (/** @type {unknown} */ message, /** @type {unknown} */ _target, /** @type {any} */ transfer) => {
        const from = context.origin.current;
        const data = context.serialize(message, transfer ? { transfer } : undefined);
        context.queueTask(() => context.fireMessage(context.window, data, { source: from?.window }), 5, from?.agent);
    };
}

/** @param {Context} context */
function navigatorOf(context) {
    const locks = new context.window.LockManager(internal, context.locks);
    return Object.defineProperties(
        {},
        {
            locks: { get: () => locks, enumerable: true, configurable: true },
            userAgent: { value: 'Mozilla/5.0 (tabacus emulator)', enumerable: true },
            onLine: { value: true, enumerable: true },
            language: { value: 'en', enumerable: true },
            languages: { value: Object.freeze(['en']), enumerable: true },
            hardwareConcurrency: { value: 2, enumerable: true },
            [Symbol.toStringTag]: { value: context.kind === 'window' ? 'Navigator' : 'WorkerNavigator' },
        },
    );
}

/** @param {Context} context */
function cryptoOf({ chance }) {
    return {
        subtle: globalThis.crypto?.subtle,
        randomUUID: () => chance.uuid(),
        /** @param {any} array */
        getRandomValues(array) {
            const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
            for (let i = 0; i < bytes.length; ++i) bytes[i] = chance.below(256);
            return array;
        },
    };
}

/** @param {URL} url */
function locationOf(url) {
    const { href, origin, protocol, host, hostname, port, pathname, search, hash } = url;
    return { href, origin, protocol, host, hostname, port, pathname, search, hash, reload() {}, toString: () => href };
}
