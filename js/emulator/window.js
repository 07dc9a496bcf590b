/** The global object of a context, with what a page or a worker of one origin has. */

import { storageOf } from './area.js';
import { broadcastChannelInterface } from './channel.js';
import { abortSignalOf, dateOf, performanceOf } from './clock.js';
import { pageTransitionEventInterface, QuotaExceededError, storageEventInterface } from './events.js';
import { source } from './core.js';
import { databaseOf } from './indexed-db.js';
import { defineHandlers, idlInterface, internal, onlyInternal } from './idl.js';
import { lockInterface, lockManagerInterface } from './locks.js';
import { postedToWindow } from './post.js';
import { storageInterface } from './storage.js';
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

/** Web IDL §3.7.6: read-only attributes, which assignment does not change. */
const READONLY = new Set(['localStorage', 'sessionStorage', 'navigator', 'document', 'location', 'indexedDB', 'crypto']);

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
                const value = make(contextOf(this));
                define(this, value);
                return value;
            },
            set: writable ? set : undefined,
        });
    }
}

/** What windows and workers have. @type {Record<string, (context: Context) => unknown>} */
const COMMON = {
    self: ({ window }) => window,
    globalThis: ({ window }) => window,
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
    isSecureContext: ({ url }) => isSecure(url),
    crossOriginIsolated: () => false,
    location: ({ url, kind }) => locationOf(url, kind),
    name: ({ name }) => name,
};

/** What only secure contexts have. @type {Record<string, (context: Context) => unknown>} */
const SECURE = {
    Lock: lockInterface,
    LockManager: lockManagerInterface,
};

/** Secure Contexts §3.1, "is origin potentially trustworthy?" @param {URL} url */
function isSecure({ protocol, hostname }) {
    if (protocol === 'https:' || protocol === 'wss:') return true;
    return /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost\.?)$/.test(hostname);
}

/** What only windows have. @type {Record<string, (context: Context) => unknown>} */
const WINDOW = {
    window: ({ window }) => window,
    frames: ({ window }) => window,
    document: (context) => context.tab.documentOf(context),
    Storage: storageInterface,
    StorageEvent: storageEventInterface,
    PageTransitionEvent: pageTransitionEventInterface,
    localStorage: (context) => storageOf(context, 0),
    sessionStorage: (context) => storageOf(context, context.session),
    requestAnimationFrame: ({ timers, window }) => (/** @type {(time: number) => void} */ call) =>
        timers.set(() => call(window.performance.now()), 16, [], false),
    cancelAnimationFrame: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    requestIdleCallback: ({ timers }) => (/** @type {(deadline: object) => void} */ call) =>
        timers.set(() => call({ didTimeout: false, timeRemaining: () => 50 }), 1, [], false),
    cancelIdleCallback: ({ timers }) => (/** @type {any} */ id) => timers.clear(id),
    postMessage: postMessageTo,
    open: openFrom,
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

/**
 * @param {string} name
 * @param {readonly string[]} handlers
 * @param {boolean} secure
 */
function globalInterface(name, handlers, secure) {
    class Global extends ReportingTarget {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
            super();
        }
    }
    const { prototype } = Global;
    for (const hosted of HOSTED) {
        if (!(hosted in globalThis)) continue;
        const value = /** @type {any} */ (globalThis)[hosted];
        Object.defineProperty(prototype, hosted, { value, writable: true, configurable: true });
    }
    lazily(prototype, secure ? { ...COMMON, ...SECURE } : COMMON);
    lazily(prototype, Object.fromEntries(DATABASES.map((key) => [key, ({ origin }) => origin.database?.interfaces[key]])));
    defineHandlers(prototype, handlers);
    const shape = { inherited: Object.keys(Object.getOwnPropertyDescriptors(prototype)) };
    return exposed(idlInterface(Global, name, shape), prototype);
}

/** @template {Function} Interface @param {Interface} Interface @param {object} prototype whose it is a property of */
function exposed(Interface, prototype) {
    Object.defineProperty(prototype, Interface.name, { value: Interface, writable: true, configurable: true });
    return Interface;
}

/** @typedef {Record<string, new (key: symbol) => EventTarget>} Interfaces by the kinds of contexts */

/** Of insecure contexts, and of secure ones. @type {(Interfaces | undefined)[]} */
const interfaces = [];

/** Made when the first is asked for: importing us must not cost what is not used. @param {boolean} secure @returns {Interfaces} */
const globalInterfaces = (secure) => (interfaces[Number(secure)] ??= makeInterfaces(secure));

/** @param {boolean} secure */
function makeInterfaces(secure) {
    const Window = globalInterface('Window', WINDOW_HANDLERS, secure);
    lazily(Window.prototype, WINDOW);
    for (const [name, get] of Object.entries(CHANGING)) {
        /** @this {any} */
        const look = function () {
            return get(contextOf(this));
        };
        Object.defineProperty(Window.prototype, name, { get: look, configurable: true });
    }
    const WorkerGlobalScope = globalInterface('WorkerGlobalScope', ['error'], secure);
    class DedicatedWorkerGlobalScope extends WorkerGlobalScope {}
    const { prototype } = DedicatedWorkerGlobalScope;
    defineHandlers(prototype, ['message', 'messageerror']);
    exposed(idlInterface(DedicatedWorkerGlobalScope, 'DedicatedWorkerGlobalScope'), prototype);
    return { window: Window, worker: DedicatedWorkerGlobalScope };
}

/** @param {Context} context */
export function makeGlobal(context) {
    const Global = /** @type {new (key: symbol) => EventTarget} */ (globalInterfaces(isSecure(context.url))[context.kind]);
    return belongsTo(Object.defineProperty(new Global(internal), behind, { value: context }), context);
}

/** HTML §9.3.3: window.postMessage(), to another window of the origin or to oneself. @param {Context} context */
function postMessageTo(context) {
    return (/** @type {any[]} */ ...given) => {
        const from = context.origin.current;
        const { targetOrigin, ...message } = postedToWindow(given, (from ?? context).url.origin);
        const mine = targetOrigin === '*' || targetOrigin === context.url.origin;
        if (mine) context.queueTask(() => context.firePosted(context.window, message, from?.window), source.message, from?.agent);
    };
}

/** @param {Context} context */
function navigatorOf(context) {
    const { LockManager } = context.window;
    const locks = LockManager && new LockManager(internal, context.locks);
    return Object.defineProperties(
        {},
        {
            ...(locks && { locks: { get: () => locks, enumerable: true, configurable: true } }),
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
function cryptoOf({ chance, url }) {
    return {
        ...(isSecure(url) && { subtle: globalThis.crypto?.subtle, randomUUID: () => chance.uuid() }),
        /** @param {any} array */
        getRandomValues(array) {
            const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
            for (let i = 0; i < bytes.length; ++i) bytes[i] = chance.below(256);
            return array;
        },
    };
}

/** @param {URL} url @param {'window' | 'worker'} kind */
function locationOf(url, kind) {
    const { href, origin, protocol, host, hostname, port, pathname, search, hash } = url;
    const location = { href, origin, protocol, host, hostname, port, pathname, search, hash, toString: () => href };
    const name = kind === 'window' ? 'Location' : 'WorkerLocation';
    return Object.defineProperty(kind === 'window' ? { ...location, reload() {} } : location, Symbol.toStringTag, { value: name });
}

/** A feature that is named, and not by 0 or no (HTML §7.2.5.1). @param {string} features @param {string} name */
function featured(features, name) {
    const found = new RegExp(`(?:^|[\\s,])${name}(?:\\s*=\\s*([^\\s,]*))?(?=$|[\\s,])`, 'i').exec(features);
    return found !== null && (found[1] === undefined || /^(?:|yes|true|[+-]?0*[1-9].*)$/i.test(found[1]));
}

/** HTML §7.2.2.1, window.open(): always another tab. @param {Context} context */
function openFrom({ origin, tab, url: base }) {
    return (/** @type {any} */ url = '', /** @type {any} */ target = '_blank', /** @type {any} */ features = '') => {
        const [asked, name, wanted] = [`${url}`.toWellFormed(), `${target}`, `${features ?? ''}`];
        if (!URL.canParse(asked, base)) throw new DOMException(`open: '${asked}' is no URL`, 'SyntaxError');
        const { href, origin: its } = new URL(asked, base);
        // Another origin's tabs are none of this emulator's: as a pop-up that the browser blocks.
        if (its !== base.origin || origin.closed || tab.closed) return null;
        const alone = featured(wanted, 'noopener') || featured(wanted, 'noreferrer');
        const opened = origin.openTab(alone ? { url: href } : { opener: tab, url: href });
        if (!alone && name && !name.startsWith('_')) opened.context.name = name;
        return alone ? null : opened.window;
    };
}
