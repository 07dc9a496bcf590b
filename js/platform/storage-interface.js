/**
 * The Storage interface (HTML §12.2.1), for any container of items. A Storage is a legacy platform object
 * (Web IDL §3.9).
 */

import { idlInterface, internal, onlyInternal, requireArguments } from './web-idl.js';

/** @typedef {import('./storage-items.js').Items} Items */

/**
 * A base class whose constructor returns its argument. So a derived class adds its private fields to any
 * object, even a Proxy.
 */
const Stamped = /** @type {new (object: object) => object} */ (
    /** @type {unknown} */ (
        function (/** @type {object} */ object) {
            return object;
        }
    )
);

/** Adds to a Storage object a private field with its container. */
class Behind extends Stamped {
    /** @type {Items} */
    #items;

    /**
     * @param {object} object the Storage object
     * @param {Items} items
     */
    constructor(object, items) {
        super(object);
        this.#items = items;
    }

    /**
     * Returns the container.
     *
     * @param {any} storage
     * @returns {Items}
     * @throws {TypeError} if it is no Storage object
     */
    static items(storage) {
        return storage.#items;
    }

    /** Whether an object is a Storage object. @param {unknown} object */
    static is(object) {
        return typeof object === 'object' && object !== null && #items in object;
    }
}

/** Whether a value is a Storage object. @param {unknown} object @returns {boolean} */
export const isStorage = (object) => Behind.is(object);

/**
 * Returns a function that returns the container of a Storage object. It caches the last one, because engines
 * take as long to read a private field of a Proxy as for the rest of a call.
 *
 * @returns {(storage: any) => Items}
 */
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
 * Makes the interface Storage. Each global object has a class of its own. An operation first checks the
 * object on which it is called, then the number of its arguments, and then converts them (Web IDL §3.7.7,
 * "create an operation function").
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
 * Makes a Storage object.
 *
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
    new Behind(target, items); // accessors of the prototype may be called on the target
    return storage;
}

/**
 * Returns the internal methods of a legacy platform object with a named getter, setter and deleter (Web IDL
 * §3.9).
 *
 * @param {() => any} self the Proxy
 * @param {Items} items
 * @returns {ProxyHandler<any>}
 */
function traps(self, items) {
    /**
     * Returns the value of a named property that is visible (§3.9.8): own and inherited properties shadow
     * those of items.
     * @param {any} target @param {string | symbol} key @returns {string | null}
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
        // The named setter gets every string key, even one that a property shadows (§3.9.2).
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
            // A Proxy must not report success for these descriptors (ECMAScript §10.5.6), so nothing is
            // written.
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
        // A legacy platform object cannot be made non-extensible (§3.9.5).
        preventExtensions: () => false,
    };
}

/**
 * Sets an ordinary property (§3.9.2, OrdinarySetWithOwnDescriptor). Named properties do not exist for it.
 * @param {any} proxy @param {any} target @param {string | symbol} key @param {any} value @param {any} receiver
 */
function setPast(proxy, target, key, value, receiver) {
    return Reflect.set(target, key, value, receiver === proxy ? target : receiver);
}
