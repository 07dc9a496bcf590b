import { isWellFormed } from '../common/well-formed.js';
import { attempt, storeFailure } from './failure.js';

/**
 * The longest key and the longest value that are read, in UTF-16 units. No strategy writes half as much.
 * Anything longer was written by another script, and is dropped before it is copied.
 */
const keyUnitsMax = 4096;
const valueUnitsMax = 2 ** 16;

/** Replaces a value that is too long. No record has this form, so it is treated as unreadable. */
const unreadable = '?';

/** Returns a value as the core may get it. @param {string | null | undefined} value */
const bounded = (value) => {
    if (value && value.length > valueUnitsMax) return unreadable;
    return value === null || value === undefined ? null : String(value); // a simulated window may return anything
};

/**
 * localStorage and its events. A read that fails counts as an absent value, because such values are only
 * hints.
 */
export class StorageHost {
    /**
     * The storage, or null; undefined before its first use.
     * @type {import('./storage-like.js').StorageLike | null | undefined}
     */
    #asked;

    #platform;
    #report;

    /** The prefix of the keys that the core watches. @type {string | undefined} */
    #prefix;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, report) {
        this.#platform = platform;
        this.#report = report;
    }

    /**
     * The storage, or null. Its first use blocks until the browser's process has answered, so it is read
     * late.
     */
    get #area() {
        if (this.#asked === undefined) {
            const area = attempt(() => this.#platform.localStorage);
            // Node ≥ 25 has a localStorage that throws at its first use, unless Node was started with a file
            // for it.
            this.#asked = area && attempt(() => area.length) !== undefined ? area : null;
        }
        return this.#asked;
    }

    get available() {
        return this.#area !== null;
    }

    /**
     * Settles the operation with the value of a key.
     *
     * @param {number} operation
     * @param {string} key
     */
    get(operation, key) {
        this.#report.settled(operation, [bounded(attempt(() => this.#area?.getItem(key)))]);
    }

    /**
     * Sets the value of a key. The operation fails if the storage is full.
     *
     * @param {number} operation
     * @param {string} key
     * @param {string} value
     */
    set(operation, key, value) {
        /** @type {import('./failure.js').Failure | undefined} */
        let failure;
        try {
            this.#area?.setItem(key, value);
        } catch (error) {
            failure = storeFailure(error);
        }
        if (failure) this.#report.failed(operation, ...failure);
        else this.#report.settled(operation);
    }

    /**
     * Removes a key.
     *
     * @param {number} operation
     * @param {string} key
     */
    remove(operation, key) {
        attempt(() => this.#area?.removeItem(key));
        this.#report.settled(operation);
    }

    /**
     * Settles the operation with the keys that begin with the prefix. Keys that are too long or not
     * well-formed are left out: the core cannot name them.
     *
     * @param {number} operation
     * @param {string} prefix
     */
    keys(operation, prefix) {
        const keys = attempt(() => this.#keys().filter((key) => isOurs(key, prefix) && isWellFormed(key)));
        this.#report.settled(operation, keys ?? []);
    }

    /**
     * Returns all keys. It reads them by their indices, because Object.keys() would miss a key named
     * "length".
     */
    #keys() {
        const area = this.#area;
        if (!area) return [];
        return Array.from({ length: area.length }, (_, index) => area.key(index) ?? '');
    }

    /**
     * Reports the changes that other tabs make to keys with the prefix. All callers pass the prefix of the
     * namespace.
     * @param {string} prefix
     */
    watch(prefix) {
        if (this.#prefix !== undefined) return;
        this.#prefix = prefix;
        this.#platform.addEventListener?.('storage', this.#onStorage);
    }

    /** Reports the change of another tab. @param {StorageEvent} event */
    #onStorage = (event) => {
        const { storageArea, key } = event;
        if (storageArea && storageArea !== this.#area) return;
        if (key !== null && !isOurs(key, this.#prefix ?? '')) return; // reading the values may copy them
        this.#report.storageChanged(key, bounded(event.oldValue), bounded(event.newValue));
    };

    /** Stops watching. */
    dispose() {
        this.#platform.removeEventListener?.('storage', this.#onStorage);
    }
}

/** Whether a key has the prefix and is no longer than ours. @param {string} key @param {string} prefix */
const isOurs = (key, prefix) => key.length <= keyUnitsMax && key.startsWith(prefix);
