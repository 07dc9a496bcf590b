/** The Storage interface (HTML §12.2.1): a legacy platform object (Web IDL §3.9) over the rules' areas. */

import { where } from './core.js';
import { idlInterface, internal, onlyInternal, requireArguments } from './idl.js';

/** @typedef {import('./context.js').Context} Context */

/** Stamps a private field on any object, a Proxy among them. */
const Stamped = /** @type {new (object: object) => object} */ (
    /** @type {unknown} */ (
        function (/** @type {object} */ object) {
            return object;
        }
    )
);

/** What stands behind one Storage object: an area as one context sees it. */
export class Area extends Stamped {
    /** @type {{ context: Context, area: number, values: Map<string, string | null>, keys: string[] | null, version: number }} */
    #seen;

    /**
     * @param {object} object what scripts hold
     * @param {Context} context
     * @param {number} area
     */
    constructor(object, context, area) {
        super(object);
        this.#seen = { context, area, values: new Map(), keys: null, version: 0 };
    }

    /** What was read stays known until anything is written. @param {any} storage */
    static #fresh(storage) {
        if (!(#seen in storage)) throw new TypeError('Illegal invocation');
        const seen = storage.#seen;
        const { version } = seen.context.rules;
        if (seen.version !== version) {
            seen.version = version;
            seen.keys = null;
            seen.values.clear();
        }
        return seen;
    }

    /** @param {any} storage @returns {number} */
    static idOf(storage) {
        return Area.#fresh(storage).area;
    }

    /** @param {unknown} object */
    static is(object) {
        return typeof object === 'object' && object !== null && #seen in object;
    }

    /** @param {any} storage @param {string} key @returns {string | null} */
    static get(storage, key) {
        const { context, area, values } = Area.#fresh(storage);
        if (!context.active) return null;
        let value = values.get(key);
        if (value === undefined) {
            value = context.rules.get(context.id, area, key);
            values.set(key, value);
        }
        if (context.rules.tells) context.rules.tell(context.id, where.item, () => `reads ${key}: ${value ?? 'nothing'}`);
        return value;
    }

    /** @param {any} storage @returns {string[]} in one order for as long as no key comes or goes */
    static keys(storage) {
        const seen = Area.#fresh(storage);
        if (!seen.context.active) return [];
        seen.keys ??= seen.context.rules.keys(seen.context.id, seen.area);
        return seen.keys;
    }

    /** @param {any} storage @param {string} key @param {string} value */
    static set(storage, key, value) {
        const seen = Area.#fresh(storage);
        const { context, area, values, keys } = seen;
        if (!context.active) return;
        if (!context.rules.set(context.id, area, key, value)) throw context.quotaExceeded();
        const isNew = values.get(key) == null;
        values.set(key, value);
        seen.keys = isNew ? null : keys;
        seen.version = context.rules.version;
        context.origin.wake();
    }

    /** @param {any} storage @param {string} key */
    static remove(storage, key) {
        const { context, area } = Area.#fresh(storage);
        if (!context.active) return;
        context.rules.remove(context.id, area, key);
        context.origin.wake();
    }

    /** @param {any} storage */
    static clear(storage) {
        const { context, area } = Area.#fresh(storage);
        if (!context.active) return;
        context.rules.clear(context.id, area);
        context.origin.wake();
    }
}

/** A Storage interface of its own for each global object. @returns {any} */
export const storageInterface = () => {
    class Storage {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
        }

        get length() {
            return Area.keys(this).length;
        }

        /** @param {any} index */
        key(index) {
            requireArguments('key', arguments, 1);
            const at = index >>> 0;
            return Area.keys(this)[at] ?? null;
        }

        /** @param {any} key */
        getItem(key) {
            if (arguments.length < 1) requireArguments('getItem', arguments, 1);
            return Area.get(this, `${key}`);
        }

        /** @param {any} key @param {any} value */
        setItem(key, value) {
            if (arguments.length < 2) requireArguments('setItem', arguments, 2);
            Area.set(this, `${key}`, `${value}`);
        }

        /** @param {any} key */
        removeItem(key) {
            requireArguments('removeItem', arguments, 1);
            Area.remove(this, `${key}`);
        }

        clear() {
            Area.clear(this);
        }
    }
    return idlInterface(Storage, 'Storage');
};

/**
 * @param {Context} context
 * @param {number} area
 * @param {new (key: symbol) => object} Storage
 * @returns {Storage}
 */
export function makeStorage(context, area, Storage) {
    const target = new Storage(internal);
    /** @type {any} */
    const storage = new Proxy(target, traps(() => storage));
    new Area(storage, context, area);
    new Area(target, context, area); // for what is called on it past the Proxy
    return storage;
}

/**
 * Web IDL §3.9, the internal methods of a legacy platform object with a named getter, setter and deleter.
 *
 * @param {() => any} self the Proxy
 * @returns {ProxyHandler<any>}
 */
function traps(self) {
    /**
     * §3.9.8's named property visibility: what an object has of its own, or inherits, shadows a name.
     * @param {any} target @param {string | symbol} key @returns {string | null} the visible value
     */
    const visible = (target, key) => (typeof key === 'symbol' || key in target ? null : Area.get(self(), key));
    /** @param {string} value */
    const descriptor = (value) => ({ value, writable: true, enumerable: true, configurable: true });
    return {
        get(target, key, receiver) {
            if (typeof key === 'symbol' || key in target) return Reflect.get(target, key, receiver);
            return Area.get(self(), key) ?? undefined;
        },
        has: (target, key) => visible(target, key) !== null || Reflect.has(target, key),
        // §3.9.2: a string goes to the setter whatever it shadows.
        set(target, key, value, receiver) {
            if (receiver !== self() || typeof key === 'symbol') return setPast(self(), target, key, value, receiver);
            Area.set(self(), key, `${value}`);
            return true;
        },
        getOwnPropertyDescriptor(target, key) {
            const value = visible(target, key);
            return value === null ? Reflect.getOwnPropertyDescriptor(target, key) : descriptor(value);
        },
        defineProperty(target, key, given) {
            if (typeof key === 'symbol' || Object.hasOwn(target, key)) return Reflect.defineProperty(target, key, given);
            if (!('value' in given || 'writable' in given)) return false;
            Area.set(self(), key, `${given.value}`);
            return true;
        },
        deleteProperty(target, key) {
            if (visible(target, key) === null) return Reflect.deleteProperty(target, key);
            Area.remove(self(), /** @type {string} */ (key));
            return true;
        },
        ownKeys: (target) => [...Area.keys(self()).filter((key) => !(key in target)), ...Reflect.ownKeys(target)],
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
