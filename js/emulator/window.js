/** The global object of a context, with what a page or a worker of one origin has. */

import { broadcastChannelInterface } from './channel.js';
import { dateOf, performanceOf } from './clock.js';
import { pageTransitionEventInterface, QuotaExceededError, storageEventInterface } from './events.js';
import { databaseOf } from './indexed-db.js';
import { defineHandlers, internal } from './idl.js';
import { lockInterface, lockManagerInterface } from './locks.js';
import { makeStorage, storageInterface } from './storage.js';

/** @typedef {import('./context.js').Context} Context */

/** What a tab has of its host as it is: interfaces without state of their own. */
const HOSTED = [
    'AbortController', 'AbortSignal', 'Blob', 'CompressionStream', 'CustomEvent', 'DOMException', 'DecompressionStream',
    'Event', 'EventTarget', 'FormData', 'Headers', 'MessageChannel', 'MessageEvent', 'MessagePort', 'ReadableStream',
    'Request', 'Response', 'TextDecoder', 'TextEncoder', 'TransformStream', 'URL', 'URLSearchParams', 'WebAssembly',
    'WritableStream', 'atob', 'btoa', 'console', 'structuredClone', 'queueMicrotask', 'fetch',
];

const WINDOW_HANDLERS = ['storage', 'message', 'messageerror', 'error', 'unhandledrejection', 'pagehide', 'pageshow', 'beforeunload', 'unload', 'load', 'focus', 'blur', 'online', 'offline'];

/** @param {object} object @param {Record<string, () => unknown>} makers each called once, at the first look */
function lazily(object, makers) {
    for (const [name, make] of Object.entries(makers)) {
        const define = (/** @type {unknown} */ value) =>
            Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
        Object.defineProperty(object, name, {
            configurable: true,
            enumerable: false,
            get: () => {
                const value = make();
                define(value);
                return value;
            },
            set: define,
        });
    }
}

/** @param {Context} context */
export function makeGlobal(context) {
    const global = new EventTarget();
    for (const name of HOSTED) {
        if (!(name in globalThis)) continue;
        const value = /** @type {any} */ (globalThis)[name];
        Object.defineProperty(global, name, { value, writable: true, configurable: true });
    }
    lazily(global, common(context));
    if (context.kind === 'window') makeWindow(context, global);
    else defineHandlers(global, ['message', 'messageerror', 'error']);
    return global;
}

/** @param {Context} context @returns {Record<string, () => unknown>} what windows and workers have */
function common(context) {
    const { timers, url } = context;
    return {
        self: () => context.window,
        globalThis: () => context.window,
        Lock: lockInterface,
        LockManager: lockManagerInterface,
        BroadcastChannel: () => broadcastChannelInterface(context),
        QuotaExceededError: () => QuotaExceededError,
        navigator: () => navigatorOf(context),
        crypto: () => cryptoOf(context),
        Math: () => Object.create(Math, { random: { value: () => context.chance.fraction(), writable: true, configurable: true } }),
        Date: () => dateOf(context),
        performance: () => performanceOf(context),
        setTimeout: () => (/** @type {any} */ handler, /** @type {any} */ timeout, /** @type {any[]} */ ...given) => timers.set(handler, timeout, given, false),
        setInterval: () => (/** @type {any} */ handler, /** @type {any} */ timeout, /** @type {any[]} */ ...given) => timers.set(handler, timeout, given, true),
        clearTimeout: () => (/** @type {any} */ id) => timers.clear(id),
        clearInterval: () => (/** @type {any} */ id) => timers.clear(id),
        reportError: () => (/** @type {unknown} */ error) => context.report(error),
        indexedDB: () => databaseOf(context),
        ...databaseInterfaces(context),
        origin: () => url.origin,
        isSecureContext: () => url.protocol === 'https:' || url.hostname === 'localhost' || url.hostname === '127.0.0.1',
        crossOriginIsolated: () => false,
    };
}

/** @param {Context} context */
function databaseInterfaces({ origin }) {
    return Object.fromEntries(
        Object.entries(origin.database?.interfaces ?? {}).map(([name, Interface]) => [name, () => Interface]),
    );
}

/** @param {Context} context @param {any} window */
function makeWindow(context, window) {
    defineHandlers(window, WINDOW_HANDLERS);
    lazily(window, {
        window: () => window,
        frames: () => window,
        document: () => context.tab.documentOf(context),
        location: () => locationOf(context.url),
        Storage: storageInterface,
        StorageEvent: storageEventInterface,
        PageTransitionEvent: pageTransitionEventInterface,
        localStorage: () => makeStorage(context, 0, window.Storage),
        sessionStorage: () => makeStorage(context, context.session, window.Storage),
        name: () => '',
        requestAnimationFrame: () => (/** @type {(time: number) => void} */ call) => context.timers.set(() => call(window.performance.now()), 16, [], false),
        cancelAnimationFrame: () => (/** @type {any} */ id) => context.timers.clear(id),
        requestIdleCallback: () => (/** @type {(deadline: object) => void} */ call) =>
            context.timers.set(() => call({ didTimeout: false, timeRemaining: () => 50 }), 1, [], false),
        cancelIdleCallback: () => (/** @type {any} */ id) => context.timers.clear(id),
        postMessage: () => postMessageTo(context),
        open: () => (/** @type {any} */ url = '') => context.origin.openTab({ opener: context.tab, url: `${url}` }).window,
        close: () => () => void context.tab.close(),
    });
    Object.defineProperties(window, {
        parent: { get: () => context.parent?.window ?? window, configurable: true },
        top: { get: () => context.tab.context.window, configurable: true },
        opener: { get: () => context.tab.opener?.window ?? null, configurable: true },
        closed: { get: () => context.tab.closed, configurable: true },
        length: { get: () => context.tab.frames.length, configurable: true },
    });
}

/** HTML §9.3.3: window.postMessage(), to another window of the origin or to oneself. @param {Context} context */
const postMessageTo = (context) => (/** @type {unknown} */ message, /** @type {unknown} */ _target, /** @type {any} */ transfer) => {
    const from = context.origin.current;
    const data = context.serialize(message, transfer ? { transfer } : undefined);
    context.queueTask(() => context.fireMessage(context.window, data, { source: from?.window }), 5, from?.agent);
};

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
