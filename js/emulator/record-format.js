/**
 * Record formats: tabs of a later version of tabacus. Such a tab runs the present program, and what the program writes
 * as "1;…" is stored and sent as "2;…", or in a later format. What is stored in an earlier format is read as it is, since
 * a version reads the formats of earlier ones. Only what belongs to tabacus is changed. As a later version must, it
 * changes no queue to its format while a tab of an earlier one has claimed a job (docs/versioning.md).
 */

import { checkInteger } from '../common/check-arguments.js';
import { SeededRandom } from './common/seeded-random.js';

/** @typedef {import('../platform/storage-items.js').Items} Items */

/** The latest format that a version field can name. */
export const recordFormatMax = 9999;

/** The beginning of the names of channels, databases and keys of localStorage that belong to tabacus. */
const root = 'tabacus/';

/** @param {unknown} name */
const isOurs = (name) => String(name).startsWith(root);

/** The object stores with values of the application, and with records that were damaged. */
const plainStores = ['data', 'aside'];

/** The proofs of commits have no version, and begin with a token. @param {unknown} key */
const isProof = (key) => String(key).endsWith('/commit');

/** @param {object | null} object @param {string} name @returns {PropertyDescriptor | undefined} */
function descriptorOf(object, name) {
    for (let at = object; at; at = Object.getPrototypeOf(at)) {
        const found = Object.getOwnPropertyDescriptor(at, name);
        if (found) return found;
    }
    return undefined;
}

/** Lets a request's result be read through `map`. @param {any} request @param {(result: any) => any} map */
function mapResult(request, map) {
    const { get, set } = /** @type {any} */ (descriptorOf(request, 'result'));
    /** @type {{ of: unknown, result: unknown } | undefined} */
    let mapped;
    Object.defineProperty(request, 'result', {
        configurable: true,
        // The implementation of IndexedDB sets it.
        set(value) {
            set.call(request, value);
        },
        get() {
            const of = get.call(request);
            if (!mapped || mapped.of !== of) mapped = { of, result: map(of) };
            return mapped.result;
        },
    });
    return request;
}

/** Replaces methods of one object. @param {any} object @param {Record<string, (base: Function) => Function>} methods */
function wrap(object, methods) {
    for (const [name, wrapped] of Object.entries(methods)) {
        const base = object[name].bind(object);
        Object.defineProperty(object, name, { value: wrapped(base), configurable: true, writable: true });
    }
    return object;
}

/** Translates records: a tab writes them in one format, and reads them in this format and in earlier ones. */
export class RecordFormat {
    #format;
    /** @type {WeakSet<object>} */
    #wrapped = new WeakSet();

    /** @param {number} format */
    constructor(format) {
        this.#format = format;
    }

    /** The text that is stored or sent. @param {unknown} text @param {string} [field] its version field */
    #written(text, field = `${this.#format}`) {
        return typeof text === 'string' ? text.replace(/^1;/, `${field};`) : text;
    }

    /**
     * Whether a tab of an earlier format has claimed jobs of the queue to which the row belongs.
     *
     * @param {any} store the object store `jobs`
     * @param {unknown} key of the row
     */
    #hasOlderClaim(store, key) {
        const slots = `${String(key).split('/')[0]}/s/`;
        return [...store._rawObjectStore.records.values()].some(({ key: at, value }) => {
            // "<version>;turn;tab", and then what the slot has claimed
            const [, writer] = /^(\d{1,4})[.\d]*;[^;]*;[^;]*;/.exec(String(value)) ?? [];
            return String(at).startsWith(slots) && writer && Number(writer) < this.#format;
        });
    }

    /** @param {any} store @param {unknown} value @param {unknown} key */
    #row(store, value, key) {
        if (isProof(key)) return value;
        const first = store.name === 'jobs' && this.#hasOlderClaim(store, key);
        return this.#written(value, first ? `${this.#format}.1` : undefined);
    }

    /** The text that the program reads. @param {unknown} text */
    #read(text) {
        if (typeof text !== 'string') return text;
        const [field = '', format] = /^([1-9]\d{0,3});/.exec(text) ?? [];
        return format && Number(format) <= this.#format ? `1;${text.slice(field.length)}` : text;
    }

    /** Maps a message, or the first element of one that carries a value. @param {unknown} data @param {(text: unknown) => unknown} map */
    #message(data, map) {
        return Array.isArray(data) ? [map(data[0]), ...data.slice(1)] : map(data);
    }

    /** @param {string} channel @param {unknown} data */
    sent(channel, data) {
        return isOurs(channel) ? this.#message(data, (text) => this.#written(text)) : data;
    }

    /** @param {string} channel @param {unknown} data */
    received(channel, data) {
        return isOurs(channel) ? this.#message(data, (text) => this.#read(text)) : data;
    }

    /** The change that a `storage` event reports. @param {{ key?: any, oldValue?: any, newValue?: any }} change */
    changed({ key, oldValue, newValue }) {
        if (!isOurs(key)) return { key, oldValue, newValue };
        return { key, oldValue: this.#read(oldValue), newValue: this.#read(newValue) };
    }

    /** The items of localStorage. @param {Items} items @returns {Items} */
    items(items) {
        return {
            keys: () => items.keys(),
            get: (key) => {
                const value = items.get(key);
                return isOurs(key) ? /** @type {string | null} */ (this.#read(value)) : value;
            },
            set: (key, value) =>
                items.set(key, isOurs(key) ? /** @type {string} */ (this.#written(value)) : value),
            remove: (key) => items.remove(key),
            clear: () => items.clear(),
        };
    }

    /** The request that opens a database. @param {any} request @param {unknown} name of the database */
    opening(request, name) {
        if (!isOurs(name)) return request;
        return mapResult(request, (connection) => connection && this.#connection(connection));
    }

    /** @param {any} connection */
    #connection(connection) {
        if (this.#wrapped.has(connection)) return connection;
        this.#wrapped.add(connection);
        return wrap(connection, {
            transaction:
                (base) =>
                (/** @type {any[]} */ ...of) =>
                    wrap(base(...of), {
                        objectStore: (store) => (/** @type {string} */ name) => this.#store(store(name)),
                    }),
        });
    }

    /** @param {any} store */
    #store(store) {
        if (plainStores.includes(store.name) || this.#wrapped.has(store)) return store;
        this.#wrapped.add(store);
        const read = (/** @type {any} */ text) => this.#read(text);
        const all =
            (/** @type {Function} */ base) =>
            (/** @type {any[]} */ ...range) =>
                mapResult(base(...range), (found) => found?.map(read));
        if (store.name === 'claims') return this.#claims(store, all);
        return wrap(store, {
            get: (base) => (/** @type {any} */ at) => (isProof(at) ? base(at) : mapResult(base(at), read)),
            put: (base) => (/** @type {any} */ value, /** @type {any} */ at) =>
                base(this.#row(store, value, at), at),
            getAll: all,
        });
    }

    /** The store whose keys are records. @param {any} store @param {(base: Function) => Function} all */
    #claims(store, all) {
        /** The keys of the claims that were read. @type {Map<unknown, unknown>} */
        const stored = new Map();
        return wrap(store, {
            put: (base) => (/** @type {any} */ value, /** @type {any} */ key) =>
                base(value, this.#written(key)),
            // A claim may have been made in an earlier format.
            delete: (base) => (/** @type {any} */ key) => base(stored.get(key) ?? this.#written(key)),
            getAllKeys: all,
            index: (base) => (/** @type {string} */ name) =>
                wrap(base(name), {
                    getKey: (getKey) => (/** @type {any} */ of) =>
                        mapResult(getKey(of), (found) => {
                            const key = this.#read(found);
                            stored.set(key, found);
                            return key;
                        }),
                }),
        });
    }
}

/**
 * Checks the option of openTab().
 *
 * @param {unknown} format
 * @returns {RecordFormat | undefined} undefined for the format of the present version
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 */
export function recordFormatOf(format = 1) {
    const checked = checkInteger('recordFormat', format, 1, recordFormatMax);
    return checked > 1 ? new RecordFormat(checked) : undefined;
}

/** The stream of the seed's random numbers that chooses formats. */
const stream = 2 ** 20;

/**
 * Chooses a format for each tab of a run.
 *
 * @param {import('./plan.js').Plan} plan
 * @param {number} seed
 */
export function drawnFormats({ recordFormats, tabs }, seed) {
    const random = new SeededRandom(seed, stream);
    return Array.from({ length: tabs }, () => recordFormats[random.below(recordFormats.length)] ?? 1);
}
