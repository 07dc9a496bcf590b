/** Events that Node lacks, an interface of its own for each global object. */

import { idlInterface, requireArguments } from './idl.js';
import { isStorage } from './storage.js';

/** @param {unknown} value a DOMString? */
const nullable = (value) => (value === null || value === undefined ? null : `${value}`);

/** @param {unknown} value a USVString */
const usv = (value) => `${value}`.toWellFormed();

/** @param {unknown} value a Storage? */
function storageOrNull(value) {
    if (value === null || value === undefined) return null;
    if (!isStorage(value)) throw new TypeError('StorageEvent: the storageArea is not a Storage object');
    return value;
}

/** @param {unknown} given what stands for a dictionary */
function dictionary(given) {
    const good = given === undefined || given === null || typeof given === 'object' || typeof given === 'function';
    if (!good) throw new TypeError('StorageEvent: the dictionary is not an object');
    return given ?? {};
}

/** What reads an event's members, for their accessors. */
const held = Symbol('held');

/** What a StorageEvent holds. @typedef {{ key: string | null, newValue: string | null, oldValue: string | null, storageArea: any, url: string }} Held */

const members = /** @type {const} */ (['key', 'oldValue', 'newValue', 'url', 'storageArea']);

/** A dictionary's members in the order of their names (Web IDL §3.2.17). @param {any} given @returns {Held} */
function heldOf(given) {
    const [key, newValue, oldValue] = [nullable(given.key), nullable(given.newValue), nullable(given.oldValue)];
    const storageArea = storageOrNull(given.storageArea);
    const { url = '' } = given;
    return { key, newValue, oldValue, storageArea, url: usv(url) };
}

/** HTML §12.2.4. @returns {any} */
export const storageEventInterface = () => {
    class StorageEvent extends Event {
        /** @type {Held} */
        #held;
        /** @type {{ type: string, bubbles: boolean, cancelable: boolean } | undefined} */
        #initialised;

        /** @param {string} type @param {any} [init] */
        constructor(type, init) {
            requireArguments('StorageEvent', arguments, 1);
            super(type, dictionary(init));
            this.#held = heldOf(init ?? {});
        }

        /** @param {StorageEvent} event @param {keyof Held} member */
        static [held](event, member) {
            return event.#held[member];
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

        /** @param {any} type @param {any} [bubbles] @param {any} [cancelable] @param {any[]} rest key, oldValue, newValue, url, storageArea */
        initStorageEvent(type, bubbles = false, cancelable = false, ...rest) {
            requireArguments('initStorageEvent', arguments, 1);
            // Converted from left to right; DOM §2.2: and then nothing, while it is dispatched.
            const initialised = { type: `${type}`, bubbles: Boolean(bubbles), cancelable: Boolean(cancelable) };
            const [key, oldValue, newValue] = [nullable(rest[0]), nullable(rest[1]), nullable(rest[2])];
            const [url, storageArea] = [usv(rest[3] === undefined ? '' : rest[3]), storageOrNull(rest[4])];
            if (this.eventPhase !== Event.NONE) return;
            [this.#initialised, this.#held] = [initialised, { key, oldValue, newValue, url, storageArea }];
        }
    }
    const { [held]: read } = StorageEvent;
    for (const member of members) {
        /** @this {any} */
        const get = function () {
            return read(this, member);
        };
        Object.defineProperty(StorageEvent.prototype, member, { get, configurable: true, enumerable: true });
    }
    idlInterface(StorageEvent, 'StorageEvent', { inherited: ['type', 'bubbles', 'cancelable'], length: 1 });
    return StorageEvent;
};

/** HTML §7.4.6.3. @returns {any} */
export const pageTransitionEventInterface = () => {
    class PageTransitionEvent extends Event {
        #persisted;

        /** @param {string} type @param {EventInit & { persisted?: boolean }} [init] */
        constructor(type, init = {}) {
            super(type, init);
            this.#persisted = Boolean(init.persisted);
        }

        get persisted() {
            return this.#persisted;
        }
    }
    return idlInterface(PageTransitionEvent, 'PageTransitionEvent', { length: 1 });
};

/** DOM Standard's QuotaExceededError, where the host has none (Web IDL §4.4). */
export const QuotaExceededError =
    /** @type {any} */ (globalThis).QuotaExceededError ??
    idlInterface(
        class extends DOMException {
            quota = null;
            requested = null;

            /** @param {string} [message] */
            constructor(message = '') {
                super(message, 'QuotaExceededError');
            }
        },
        'QuotaExceededError',
    );
