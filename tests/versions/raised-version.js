/**
 * Tabs of a later version, whose formats have the number 2. They run the present program in an emulated tab, or in a
 * page of a browser, whose IndexedDB, localStorage and channels are wrapped: what the program writes as "1;…" is stored
 * and sent as "2;…", and what others have stored as "2;…" is read as "1;…". What is stored as "1;…" is read as it is,
 * since a later version reads the formats of an earlier one.
 */

/** @param {unknown} text */
const raised = (text) => (typeof text === 'string' ? text.replace(/^1;/, '2;') : text);
/** Maps a message, or the first element of one that carries a value. @param {unknown} data @param {(text: unknown) => unknown} map */
const mapMessage = (data, map) => (Array.isArray(data) ? [map(data[0]), ...data.slice(1)] : map(data));
/** @param {unknown} text */
const lowered = (text) => (typeof text === 'string' ? text.replace(/^2;/, '1;') : text);

/** The proofs of commits have no version, and begin with a token. @param {unknown} key */
const isProof = (key) => String(key).endsWith('/commit');

/** Lets a request's result be read through `map`. @param {any} request @param {(result: any) => any} map */
function mapResult(request, map) {
    const { get, set } = /** @type {any} */ (descriptorOf(request, 'result'));
    /** @type {any} */
    let mapped;
    Object.defineProperty(request, 'result', {
        configurable: true,
        // The implementation of IndexedDB in the emulator sets it.
        set(value) {
            set.call(request, value);
        },
        get() {
            const result = get.call(request);
            if (mapped?.of !== request || mapped.result !== result)
                mapped = { of: request, result, value: map(result) };
            return mapped.value;
        },
    });
    return request;
}

/** @param {object | null} object @param {string} name @returns {PropertyDescriptor | undefined} */
function descriptorOf(object, name) {
    for (let at = object; at; at = Object.getPrototypeOf(at)) {
        const found = Object.getOwnPropertyDescriptor(at, name);
        if (found) return found;
    }
    return undefined;
}

/** Replaces methods of one object. @param {any} object @param {Record<string, (base: Function) => Function>} methods */
function wrap(object, methods) {
    for (const [name, wrapped] of Object.entries(methods)) {
        const base = object[name].bind(object);
        Object.defineProperty(object, name, { value: wrapped(base), configurable: true, writable: true });
    }
    return object;
}

/** @type {WeakSet<object>} */
const wrappedStores = new WeakSet();

/** @param {any} store */
function wrapStore(store) {
    if (store.name === 'data' || store.name === 'aside' || wrappedStores.has(store)) return store;
    wrappedStores.add(store);
    const keysAreRecords = store.name === 'claims';
    const key = (/** @type {any} */ one) => (keysAreRecords ? raised(one) : one);
    return wrap(store, {
        get: (base) => (/** @type {any} */ at) =>
            mapResult(base(key(at)), (found) => (isProof(at) ? found : lowered(found))),
        put: (base) => (/** @type {any} */ value, /** @type {any} */ at) =>
            base(isProof(at) ? value : raised(value), key(at)),
        delete: (base) => (/** @type {any} */ at) => base(key(at)),
        getAll:
            (base) =>
            (/** @type {any[]} */ ...range) =>
                mapResult(base(...range), (found) => found?.map(lowered)),
        index: (base) => (/** @type {string} */ name) =>
            wrap(base(name), {
                getKey: (getKey) => (/** @type {any} */ of) => mapResult(getKey(of), lowered),
            }),
    });
}

/** @param {any} transaction */
const wrapTransaction = (transaction) =>
    wrap(transaction, { objectStore: (base) => (/** @type {string} */ name) => wrapStore(base(name)) });

/** @param {any} connection */
const wrapConnection = (connection) =>
    wrap(connection, {
        transaction:
            (base) =>
            (/** @type {any[]} */ ...of) =>
                wrapTransaction(base(...of)),
    });

/**
 * Wraps localStorage, and the events that report its changes.
 *
 * @param {any} window
 */
function wrapStorage(window) {
    const area = window.localStorage;
    const wrapped = {
        get length() {
            return area.length;
        },
        key: (/** @type {number} */ at) => area.key(at),
        getItem: (/** @type {string} */ key) => lowered(area.getItem(key)),
        setItem: (/** @type {string} */ key, /** @type {string} */ value) => area.setItem(key, raised(value)),
        removeItem: (/** @type {string} */ key) => area.removeItem(key),
    };
    /** @type {Map<Function, Function>} */
    const listeners = new Map();
    wrap(window, {
        addEventListener:
            (base) =>
            (/** @type {string} */ type, /** @type {Function} */ listener, /** @type {any[]} */ ...rest) => {
                if (type !== 'storage') return base(type, listener, ...rest);
                const mapped = (/** @type {StorageEvent} */ { key, oldValue, newValue }) =>
                    listener({ key, oldValue: lowered(oldValue), newValue: lowered(newValue) });
                listeners.set(listener, mapped);
                return base(type, mapped, ...rest);
            },
        removeEventListener:
            (base) =>
            (/** @type {string} */ type, /** @type {Function} */ listener, /** @type {any[]} */ ...rest) =>
                base(type, listeners.get(listener) ?? listener, ...rest),
    });
    return wrapped;
}

/**
 * Makes the tab one of the later version.
 *
 * @param {{ window: any }} page an emulated tab, or a page of a browser
 * @returns {any} its window, for open({ window })
 */
export function raiseVersion(page) {
    const { window } = page;
    const factory = window.indexedDB;
    const Base = window.BroadcastChannel;
    class Channel extends Base {
        /** @param {unknown} message */
        postMessage(message) {
            super.postMessage(mapMessage(message, raised));
        }

        /** @param {(event: { data: unknown }) => void} listener */
        set onmessage(listener) {
            super.onmessage = (/** @type {{ data: unknown }} */ { data }) =>
                listener({ data: mapMessage(data, lowered) });
        }
    }
    const changed = {
        BroadcastChannel: Channel,
        localStorage: wrapStorage(window),
        indexedDB: factory && {
            open: (/** @type {[string, number?]} */ ...of) =>
                mapResult(factory.open(...of), (connection) => connection && wrapConnection(connection)),
            deleteDatabase: (/** @type {string} */ name) => factory.deleteDatabase(name),
            databases: () => factory.databases(),
        },
    };
    for (const [name, value] of Object.entries(changed))
        Object.defineProperty(window, name, { value, configurable: true });
    return window;
}
