/**
 * The shape of `navigator.locks` (W3C Web Locks API §3.2) over tabacus's locks: where a browser has none,
 * and where a waiter that gives up must not strand those behind it.
 *
 * Beyond the specification a name is at most 1024 UTF-16 units, and query() tells of the names that were
 * asked for through this object.
 *
 * @module
 */

import { TabacusError } from '../errors.js';
import { opener } from './opened.js';

/** @typedef {{ name: string, mode: 'exclusive' | 'shared' }} GrantedLock */

const modes = ['exclusive', 'shared'];

export class LockManager {
    #tab;

    /** @type {Set<string>} */
    #names = new Set();

    /** @param {import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab>} [tab] one of its own unless said otherwise */
    constructor(tab) {
        this.#tab = opener('locks', tab);
    }

    /**
     * @template T
     * @overload
     * @param {string} name
     * @param {(lock: GrantedLock | null) => T | Promise<T>} callback
     * @returns {Promise<T>}
     */
    /**
     * @template T
     * @overload
     * @param {string} name
     * @param {{ mode?: 'exclusive' | 'shared', ifAvailable?: boolean, steal?: boolean, signal?: AbortSignal }} options
     * @param {(lock: GrantedLock | null) => T | Promise<T>} callback
     * @returns {Promise<T>}
     */
    /**
     * @param {string} name
     * @param {any} optionsOrCallback
     * @param {any} [given]
     */
    async request(name, optionsOrCallback, given) {
        if (arguments.length < 2) throw new TypeError('request: 2 arguments required');
        const key = String(name);
        const callback = arguments.length > 2 ? given : optionsOrCallback;
        const options = optionsFrom(arguments.length > 2 ? optionsOrCallback : undefined);
        if (typeof callback !== 'function') throw new TypeError('request: the callback is not a function');
        checkRequest(key, options);
        const { mode, ifAvailable, steal, signal } = options;
        signal?.throwIfAborted();
        this.#names.add(key);
        const tab = await this.#tab();
        signal?.throwIfAborted();
        const held = await tab._acquire(key, { mode, ifAvailable, steal, signal });
        const granted = held && Object.freeze({ name: key, mode });
        if (!held) return callback(null);
        try {
            return await Promise.race([callback(granted), whenStolen(held)]);
        } finally {
            held.release();
        }
    }

    /** @returns {Promise<{ held: object[], pending: object[] }>} */
    async query() {
        const tab = await this.#tab();
        const found = await Promise.all([...this.#names].map(async (name) => ({ name, all: await tab._query(name) })));
        const of = (/** @type {string} */ wanted) =>
            found.flatMap(({ name, all }) =>
                all
                    .filter(({ state }) => state === wanted)
                    .map(({ mode, tab: clientId }) => ({ name, mode, clientId })),
            );
        return { held: of('held'), pending: of('waiting') };
    }
}

/**
 * A dictionary as Web IDL converts it, its members in order of their names.
 * @param {any} given
 */
function optionsFrom(given = {}) {
    if (given !== null && typeof given !== 'object' && typeof given !== 'function') {
        throw new TypeError('request: the options are not an object');
    }
    const { ifAvailable = false, mode = 'exclusive', signal, steal = false } = given ?? {};
    if (!modes.includes(String(mode))) throw new TypeError(`request: ${mode} is no lock mode`);
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('request: signal is no AbortSignal');
    return {
        mode: /** @type {'exclusive' | 'shared'} */ (String(mode)),
        ifAvailable: Boolean(ifAvailable),
        steal: Boolean(steal),
        signal: /** @type {AbortSignal | undefined} */ (signal),
    };
}

/**
 * §3.2.1, request(), in its order.
 *
 * @param {string} name
 * @param {ReturnType<typeof optionsFrom>} options
 */
function checkRequest(name, { mode, ifAvailable, steal, signal }) {
    /** @param {string} why */
    const refuse = (why) => {
        throw new DOMException(why, 'NotSupportedError');
    };
    if (name.startsWith('-')) refuse('names that begin with - are reserved');
    if (steal && ifAvailable) refuse('steal and ifAvailable exclude each other');
    if (steal && mode !== 'exclusive') refuse('steal is for exclusive locks');
    if (signal && (steal || ifAvailable)) refuse('a signal is for requests that wait');
    if (name.length > 1024) throw new TabacusError('invalid-argument', 'a name has at most 1024 UTF-16 units');
}

/**
 * @param {import('../lock/held.js').Held} held
 * @returns {Promise<never>}
 */
const whenStolen = ({ signal }) =>
    new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new DOMException(String(signal.reason?.message), 'AbortError')), {
            once: true,
        }),
    );
