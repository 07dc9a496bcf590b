import { isWellFormed } from '../common/well-formed.js';
import { attempt, storeFailure } from './failure.js';

/**
 * The longest key and value of ours, in UTF-16 units: no strategy writes half as much. What is longer was written by
 * another script, and is dropped before it is copied.
 */
const keyUnitsMax = 4096;
const valueUnitsMax = 2 ** 16;

/** What stands for a value that is too long: no record can be read from it. */
const unreadable = '?';

/** @param {string | null | undefined} value */
const bounded = (value) => {
    if (value && value.length > valueUnitsMax) return unreadable;
    return value === null || value === undefined ? null : String(value); // a strange host may give anything
};

/** localStorage and its events. A failing read is an absent value: it can only be a hint anyway. */
export class StorageHost {
    /** Undefined before it is first asked for. @type {import('./storage-like.js').StorageLike | null | undefined} */
    #asked;

    #platform;
    #report;

    /** What the keys begin with whose changes the core asks for. @type {string | undefined} */
    #prefix;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, report) {
        this.#platform = platform;
        this.#report = report;
    }

    /** Its first use waits for the browser's process, so it is not asked for before. */
    get #area() {
        if (this.#asked === undefined) {
            const area = attempt(() => this.#platform.localStorage);
            // Node ≥ 25 has one that throws at the first use unless it was given a file.
            this.#asked = area && attempt(() => area.length) !== undefined ? area : null;
        }
        return this.#asked;
    }

    get available() {
        return this.#area !== null;
    }

    /**
     * @param {number} operation
     * @param {string} key
     */
    get(operation, key) {
        this.#report.settled(operation, [bounded(attempt(() => this.#area?.getItem(key)))]);
    }

    /**
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
     * @param {number} operation
     * @param {string} key
     */
    remove(operation, key) {
        attempt(() => this.#area?.removeItem(key));
        this.#report.settled(operation);
    }

    /**
     * Reads the keys that begin with the prefix and that the core can name.
     *
     * @param {number} operation
     * @param {string} prefix
     */
    keys(operation, prefix) {
        const keys = attempt(() => this.#keys().filter((key) => isOurs(key, prefix) && isWellFormed(key)));
        this.#report.settled(operation, keys ?? []);
    }

    /** By index, and not by Object.keys: that would miss a key named "length". */
    #keys() {
        const area = this.#area;
        if (!area) return [];
        return Array.from({ length: area.length }, (_, index) => area.key(index) ?? '');
    }

    /**
     * Reports other tabs' changes of keys that begin with the prefix. All callers pass the namespace's.
     * @param {string} prefix
     */
    watch(prefix) {
        if (this.#prefix !== undefined) return;
        this.#prefix = prefix;
        this.#platform.addEventListener?.('storage', this.#onStorage);
    }

    /** @param {StorageEvent} event */
    #onStorage = (event) => {
        const { storageArea, key } = event;
        if (storageArea && storageArea !== this.#area) return;
        if (key !== null && !isOurs(key, this.#prefix ?? '')) return; // before the values are made strings
        this.#report.storageChanged(key, bounded(event.oldValue), bounded(event.newValue));
    };

    dispose() {
        this.#platform.removeEventListener?.('storage', this.#onStorage);
    }
}

/** @param {string} key @param {string} prefix */
const isOurs = (key, prefix) => key.length <= keyUnitsMax && key.startsWith(prefix);
