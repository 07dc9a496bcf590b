/** The Storage interface (HTML §12.2.1): a legacy platform object (Web IDL §3.9) over whatever keeps the items. */

import { idlInterface, internal, onlyInternal, requireArguments } from './web-idl.js';

/**
 * What a Storage object shows: keys and values are strings already.
 *
 * @typedef {object} Items
 * @property {(key: string) => string | null} get
 * @property {() => string[]} keys in one order for as long as no key comes or goes
 * @property {(key: string, value: string) => void} set throws what setItem throws
 * @property {(key: string) => void} remove
 * @property {() => void} clear
 */

/** Stamps a private field on any object, a Proxy among them. */
const Stamped = /** @type {new (object: object) => object} */ (
    /** @type {unknown} */ (
        function (/** @type {object} */ object) {
            return object;
        }
    )
);

/** Which items stand behind a Storage object. */
class Behind extends Stamped {
    /** @type {Items} */
    #items;

    /**
     * @param {object} object what scripts hold
     * @param {Items} items
     */
    constructor(object, items) {
        super(object);
        this.#items = items;
    }

    /** Throws a TypeError for what is none, as Web IDL has it. @param {any} storage @returns {Items} */
    static items(storage) {
        return storage.#items;
    }

    /** @param {unknown} object */
    static is(object) {
        return typeof object === 'object' && object !== null && #items in object;
    }
}

/** @param {unknown} object @returns {boolean} */
export const isStorage = (object) => Behind.is(object);

/** The object of the last call is remembered: to look into a Proxy takes engines as long as the rest of a call. @returns {(storage: any) => Items} */
function lookup() {
    let last = {};
    /** @type {Items} */
    let lastItems;
    return (storage) => {
        if (storage !== last) {
            lastItems = Behind.items(storage);
            last = storage;
        }
        return lastItems;
    };
}

/**
 * A Storage interface of its own for each global object. Web IDL §3.7.7, "create an operation function": what it is
 * called on is looked at first, then how many arguments there are, and then what they are.
 *
 * @returns {any}
 */
export const storageInterface = () => {
    const itemsOf = lookup();
    class Storage {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
        }

        get length() {
            return itemsOf(this).keys().length;
        }

        /** @param {any} index */
        key(index) {
            const items = itemsOf(this);
            requireArguments("execute 'key' on 'Storage'", arguments, 1);
            const at = index >>> 0;
            return items.keys()[at] ?? null;
        }

        /** @param {any} key */
        getItem(key) {
            const items = itemsOf(this);
            if (arguments.length < 1) requireArguments("execute 'getItem' on 'Storage'", arguments, 1);
            return items.get(`${key}`);
        }

        /** @param {any} key @param {any} value */
        setItem(key, value) {
            const items = itemsOf(this);
            if (arguments.length < 2) requireArguments("execute 'setItem' on 'Storage'", arguments, 2);
            items.set(`${key}`, `${value}`);
        }

        /** @param {any} key */
        removeItem(key) {
            const items = itemsOf(this);
            requireArguments("execute 'removeItem' on 'Storage'", arguments, 1);
            items.remove(`${key}`);
        }

        clear() {
            itemsOf(this).clear();
        }
    }
    return idlInterface(Storage, 'Storage');
};

/**
 * @param {Items} items
 * @param {new (key: symbol) => object} Storage
 * @returns {Storage}
 */
export function makeStorage(items, Storage) {
    const target = new Storage(internal);
    /** @type {any} */
    const storage = new Proxy(
        target,
        traps(() => storage, items),
    );
    new Behind(storage, items);
    new Behind(target, items); // for what is called on it past the Proxy
    return storage;
}

/**
 * Web IDL §3.9, the internal methods of a legacy platform object with a named getter, setter and deleter.
 *
 * @param {() => any} self the Proxy
 * @param {Items} items
 * @returns {ProxyHandler<any>}
 */
function traps(self, items) {
    /**
     * §3.9.8's named property visibility: what an object has of its own, or inherits, shadows a name.
     * @param {any} target @param {string | symbol} key @returns {string | null} the visible value
     */
    const visible = (target, key) => (typeof key === 'symbol' || key in target ? null : items.get(key));
    /** @param {string} value */
    const descriptor = (value) => ({ value, writable: true, enumerable: true, configurable: true });
    return {
        get(target, key, receiver) {
            if (typeof key === 'symbol' || key in target) return Reflect.get(target, key, receiver);
            return items.get(key) ?? undefined;
        },
        has: (target, key) => visible(target, key) !== null || Reflect.has(target, key),
        // §3.9.2: a string goes to the setter whatever it shadows.
        set(target, key, value, receiver) {
            if (receiver !== self() || typeof key === 'symbol')
                return setPast(self(), target, key, value, receiver);
            items.set(key, `${value}`);
            return true;
        },
        getOwnPropertyDescriptor(target, key) {
            const value = visible(target, key);
            return value === null ? Reflect.getOwnPropertyDescriptor(target, key) : descriptor(value);
        },
        defineProperty(target, key, given) {
            if (typeof key === 'symbol' || Object.hasOwn(target, key))
                return Reflect.defineProperty(target, key, given);
            // Nothing is written where a Proxy must not report success (ECMAScript §10.5.6).
            if (!('value' in given || 'writable' in given) || given.configurable === false) return false;
            items.set(key, `${given.value}`);
            return true;
        },
        deleteProperty(target, key) {
            if (visible(target, key) === null) return Reflect.deleteProperty(target, key);
            items.remove(/** @type {string} */ (key));
            return true;
        },
        ownKeys: (target) => [...items.keys().filter((key) => !(key in target)), ...Reflect.ownKeys(target)],
        // §3.9.5
        preventExtensions: () => false,
    };
}

/**
 * §3.9.2 beyond the named setter: OrdinarySetWithOwnDescriptor, to which named properties do not exist.
 * @param {any} proxy @param {any} target @param {string | symbol} key @param {any} value @param {any} receiver
 */
function setPast(proxy, target, key, value, receiver) {
    return Reflect.set(target, key, value, receiver === proxy ? target : receiver);
}
