/** The objects of a global object that describe where a script runs: navigator, location. */

import { idlInterface, internal, onlyInternal } from '../../platform/web-idl.js';

/** @typedef {import('../context.js').Context} Context */

/** The properties that `navigator` has in windows and workers (HTML §8.9.1). */
const FACTS = {
    appCodeName: 'Mozilla',
    appName: 'Netscape',
    appVersion: '5.0 (tabacus emulator)',
    platform: '',
    product: 'Gecko',
    userAgent: 'Mozilla/5.0 (tabacus emulator)',
    language: 'en',
    languages: Object.freeze(['en']),
    onLine: true,
    hardwareConcurrency: 2,
};

/** The properties that `navigator` has only in windows. */
const WINDOW_FACTS = {
    cookieEnabled: true,
    productSub: '20030107',
    vendor: '',
    vendorSub: '',
    webdriver: false,
    pdfViewerEnabled: false,
};

/** @param {Context} context @param {boolean} secure @returns {any} */
export function navigatorOf(context, secure) {
    class Navigator {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
        }
    }
    const locks = secure && new (context.original('LockManager'))(internal, context.locks);
    const isWindow = context.kind === 'window';
    const storage = secure && new (context.original('StorageManager'))(internal, context);
    const facts = { ...FACTS, ...(isWindow && WINDOW_FACTS), ...(secure && { locks, storage }) };
    const navigator = new Navigator(internal);
    for (const [name, value] of Object.entries(facts)) {
        /** @this {unknown} */
        const get = function () {
            if (this !== navigator) throw new TypeError('Illegal invocation');
            return value;
        };
        Object.defineProperty(get, 'name', { value: `get ${name}` });
        Object.defineProperty(Navigator.prototype, name, { get, configurable: true, enumerable: true });
    }
    idlInterface(Navigator, isWindow ? 'Navigator' : 'WorkerNavigator');
    return navigator;
}

/** Does nothing, in place of a navigation or reload: a page consists of the scripts that were run in it. */
const stay = () => {};

/** @param {Context} context */
export function locationOf({ address, url, kind }) {
    const { href, protocol, host, hostname, port, pathname, search, hash } = address;
    const location = {
        href,
        origin: url.origin,
        protocol,
        host,
        hostname,
        port,
        pathname,
        search,
        hash,
        toString: () => href,
    };
    const isWindow = kind === 'window';
    const moving = isWindow ? { ...location, assign: stay, replace: stay, reload: stay } : location;
    return Object.defineProperty(moving, Symbol.toStringTag, {
        value: isWindow ? 'Location' : 'WorkerLocation',
    });
}
