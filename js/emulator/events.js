/** Events that Node lacks, an interface of its own for each global object. */

import { Area } from './storage.js';
import { idlInterface, requireArguments } from './idl.js';

/** @param {unknown} value a DOMString? */
const nullable = (value) => (value === null || value === undefined ? null : `${value}`);

/** @param {unknown} value a USVString */
const usv = (value) => `${value}`.toWellFormed();

/** @param {unknown} value a Storage? @param {new (...given: any[]) => any} Storage */
function storageOrNull(value, Storage) {
    if (value === null || value === undefined) return null;
    if (!Area.is(value)) throw new TypeError('StorageEvent: the storageArea is not a Storage object');
    void Storage;
    return value;
}

/**
 * HTML §12.2.4.
 * @param {new (...given: any[]) => any} Storage
 */
export const storageEventInterface = (Storage) => {
    class StorageEvent extends Event {
        #key;
        #newValue;
        #oldValue;
        #storageArea;
        #url;
        /** @type {{ type: string, bubbles: boolean, cancelable: boolean } | undefined} */
        #initialised;

        /** @param {string} type @param {any} [init] */
        constructor(type, init) {
            requireArguments('StorageEvent', arguments, 1);
            if (init !== undefined && init !== null && typeof init !== 'object' && typeof init !== 'function') {
                throw new TypeError('StorageEvent: the dictionary is not an object');
            }
            const given = init ?? {};
            super(type, given);
            // A dictionary's members in the order of their names (Web IDL §3.2.17).
            this.#key = nullable(given.key);
            this.#newValue = nullable(given.newValue);
            this.#oldValue = nullable(given.oldValue);
            this.#storageArea = storageOrNull(given.storageArea, Storage);
            const { url = '' } = given;
            this.#url = usv(url);
        }

        get key() {
            return this.#key;
        }
        get oldValue() {
            return this.#oldValue;
        }
        get newValue() {
            return this.#newValue;
        }
        get url() {
            return this.#url;
        }
        get storageArea() {
            return this.#storageArea;
        }
        get type() {
            return this.#initialised?.type ?? super.type;
        }
        get bubbles() {
            return this.#initialised?.bubbles ?? super.bubbles;
        }
        get cancelable() {
            return this.#initialised?.cancelable ?? super.cancelable;
        }

        /**
         * @param {any} type @param {any} [bubbles] @param {any} [cancelable] @param {any} [key]
         * @param {any} [oldValue] @param {any} [newValue] @param {any} [url] @param {any} [storageArea]
         */
        initStorageEvent(type, bubbles, cancelable, key, oldValue, newValue, url = '', storageArea = null) {
            requireArguments('initStorageEvent', arguments, 1);
            this.#initialised = { type: `${type}`, bubbles: Boolean(bubbles), cancelable: Boolean(cancelable) };
            this.#key = nullable(key);
            this.#oldValue = nullable(oldValue);
            this.#newValue = nullable(newValue);
            this.#url = usv(url);
            this.#storageArea = storageOrNull(storageArea, Storage);
        }
    }
    Object.defineProperty(StorageEvent.prototype.initStorageEvent, 'length', { value: 1, configurable: true });
    idlInterface(StorageEvent, 'StorageEvent');
    for (const name of ['type', 'bubbles', 'cancelable']) {
        Object.defineProperty(StorageEvent.prototype, name, { enumerable: false });
    }
    return StorageEvent;
};

/** HTML §7.4.6.3. */
export const pageTransitionEventInterface = () => {
    class PageTransitionEvent extends Event {
        #persisted;

        /** @param {string} type @param {{ persisted?: boolean }} [init] */
        constructor(type, init = {}) {
            super(type, init);
            this.#persisted = Boolean(init.persisted);
        }

        get persisted() {
            return this.#persisted;
        }
    }
    return idlInterface(PageTransitionEvent, 'PageTransitionEvent');
};

/** DOM Standard's QuotaExceededError, where the host has none (Web IDL §4.4). */
export const QuotaExceededError =
    /** @type {any} */ (globalThis).QuotaExceededError ??
    class QuotaExceededError extends DOMException {
        quota = null;
        requested = null;

        /** @param {string} [message] */
        constructor(message = '') {
            super(message, 'QuotaExceededError');
        }
    };
