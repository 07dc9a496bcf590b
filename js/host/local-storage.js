import { attempt, storeFailure } from './failure.js';

/** localStorage and its events. A failing read is an absent value: it can only be a hint anyway. */
export class StorageHost {
    /** @type {import('./storage-like.js').StorageLike | undefined} */
    #area;

    /** @type {() => void} */
    #stopListening;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').Report} report
     */
    constructor(platform, report) {
        const area = attempt(() => platform.localStorage);
        // Node ≥ 25 has one that throws at the first use unless it was given a file.
        this.#area = area && attempt(() => area.length) !== undefined ? area : undefined;
        /** @param {StorageEvent} event */
        const listener = (event) => {
            if (event.storageArea && event.storageArea !== this.#area) return;
            report('storageChanged', 0, [event.key, event.oldValue, event.newValue]);
        };
        platform.addEventListener?.('storage', listener);
        this.#stopListening = () => platform.removeEventListener?.('storage', listener);
    }

    get available() {
        return this.#area !== undefined;
    }

    /** @param {string} key */
    get(key) {
        return attempt(() => this.#area?.getItem(key)) ?? null;
    }

    /**
     * @param {string} key
     * @param {string} value
     * @returns {import('./failure.js').Failure | null}
     */
    set(key, value) {
        try {
            this.#area?.setItem(key, value);
            return null;
        } catch (error) {
            return storeFailure(error);
        }
    }

    /** @param {string} key */
    remove(key) {
        attempt(() => this.#area?.removeItem(key));
    }

    /** Those that the core can name. @param {string} prefix */
    keys(prefix) {
        return (
            attempt(() => this.#keys().filter((key) => key.startsWith(prefix) && key.isWellFormed())) ?? []
        );
    }

    /** By index, and not by Object.keys: that would miss a key named "length". */
    #keys() {
        const area = this.#area;
        if (!area) return [];
        return Array.from({ length: area.length }, (_, index) => area.key(index) ?? '');
    }

    dispose() {
        this.#stopListening();
    }
}
