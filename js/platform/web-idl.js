/** The properties of a Web IDL interface that a JavaScript class does not have by itself. */

/** The first argument of constructors that scripts must not call. */
export const internal = Symbol('internal');

/**
 * Checks that a constructor was called by the package (Web IDL §3.7.1, an interface without a constructor
 * operation).
 *
 * @param {unknown} key
 * @throws {TypeError} if `key` is not `internal`
 */
export function onlyInternal(key) {
    if (key !== internal) throw new TypeError('Illegal constructor');
}

/**
 * Checks the number of arguments, which comes first in overload resolution (Web IDL §3.7.1). The messages are
 * Chromium's.
 *
 * @param {string} act the operation, for the message: `execute 'key' on 'Storage'`, `construct 'Worker'`
 * @param {ArrayLike<unknown>} given
 * @param {number} required
 * @throws {TypeError}
 */
export function requireArguments(act, given, required) {
    if (given.length >= required) return;
    const count = `${required} argument${required === 1 ? '' : 's'}`;
    throw new TypeError(`Failed to ${act}: ${count} required, but only ${given.length} present.`);
}

/** A descriptor that makes a property enumerable, and changes nothing else of it. */
const enumerable = { enumerable: true };

/** The prototypes of the interfaces that this file has made. @type {WeakSet<object>} */
const prototypes = new WeakSet();

/** Whether a value is a platform object (Web IDL §2.12) of one of these interfaces. @param {object} value */
export function isPlatformObject(value) {
    for (
        let prototype = Object.getPrototypeOf(value);
        prototype;
        prototype = Object.getPrototypeOf(prototype)
    ) {
        if (prototypes.has(prototype)) return true;
    }
    return false;
}

/**
 * Makes a class an interface: its members are enumerable (Web IDL §3.7.7), and its prototype has a class
 * string (§3.7.3).
 *
 * @template {new (...given: any[]) => any} Interface
 * @param {Interface} Interface
 * @param {string} name
 * @param {{ inherited?: readonly string[], length?: number }} [options] `inherited`: members of another interface,
 *   which it redefines; `length`: how many arguments its constructor requires
 * @returns {Interface}
 */
export function idlInterface(Interface, name, { inherited = [], length = 0 } = {}) {
    const { prototype } = Interface;
    prototypes.add(prototype);
    for (const key of Object.getOwnPropertyNames(prototype)) {
        if (key !== 'constructor' && !inherited.includes(key))
            Object.defineProperty(prototype, key, enumerable);
    }
    Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
    Object.defineProperty(Interface, 'name', { value: name, configurable: true });
    Object.defineProperty(Interface, 'length', { value: length, configurable: true });
    return Interface;
}

/**
 * Returns a function that makes an interface object for each global object (Web IDL §3.7.1). All of them
 * share the members of one class, which the first call makes. So a method of one global object can be called
 * on an object of another.
 *
 * @template {new (...given: any[]) => any} Interface
 * @param {() => Interface} make
 * @returns {() => Interface}
 */
export function forEachGlobal(make) {
    /** @type {(() => any) | undefined} */
    let copy;
    return () => (copy ??= copiesOf(make()))();
}

/** Returns a function that makes copies of a class with the same members. @param {any} Original */
function copiesOf(Original) {
    const { prototype: original, name, length } = Original;
    const inherits = Object.getPrototypeOf(Original);
    const inherited = Object.getPrototypeOf(original);
    const members = Object.getOwnPropertyDescriptors(original);
    return () => {
        const prototype = Object.create(inherited, members);
        /** @param {any[]} given */
        const Copy = function (...given) {
            if (!new.target) throw new TypeError(`${name}: please use the 'new' operator`);
            return Reflect.construct(Original, given, new.target);
        };
        Object.defineProperty(prototype, 'constructor', { value: Copy });
        Object.defineProperties(Copy, {
            name: { value: name },
            length: { value: length },
            prototype: { value: prototype, writable: false },
        });
        if (inherits !== Function.prototype) Object.setPrototypeOf(Copy, inherits);
        prototypes.add(prototype);
        return Copy;
    };
}

/**
 * Makes a regular operation of a global object, with its name and its number of required arguments (Web IDL
 * §3.7.7).
 *
 * @param {string} name
 * @param {number} required
 * @param {(...given: any[]) => unknown} call
 */
export function operation(name, required, call) {
    const made = (/** @type {any[]} */ ...given) => {
        requireArguments(`execute '${name}'`, given, required);
        return call(...given);
    };
    return Object.defineProperties(made, { name: { value: name }, length: { value: required } });
}

/**
 * Defines an attribute, and names its getter and its setter after it (Web IDL §3.7.6).
 *
 * @param {object} object the object to define it on
 * @param {string} name
 * @param {{ get: () => unknown, set?: (value: any) => void }} accessors
 */
export function defineAttribute(object, name, { get, set }) {
    Object.defineProperty(get, 'name', { value: `get ${name}` });
    if (set) Object.defineProperty(set, 'name', { value: `set ${name}` });
    Object.defineProperty(object, name, { get, set, configurable: true, enumerable: true });
}

/** Whether an object is one of the interface. @typedef {(object: any) => boolean} Brand */

/** Calls an event handler. @typedef {(handler: Function, target: EventTarget, event: any) => void} Processing */

/** Calls a handler in the usual way: if it returns false, the event is cancelled. @type {Processing} */
export const plainly = (handler, target, event) => {
    if (handler.call(target, event) === false) event.preventDefault();
};

/**
 * Defines event handler IDL attributes (HTML §8.1.8.1). When the first handler is set, it gets a position
 * among the listeners; later handlers keep that position, until the attribute is set to null. A value that is
 * no object counts as null.
 *
 * @param {object} object the object to define the attributes on
 * @param {readonly string[]} types the types of the events
 * @param {Record<string, Processing>} [particular] for some types, another way to call the handler
 * @param {Brand} [isOne] whether an object may have such a handler
 */
export function defineHandlers(object, types, particular = {}, isOne = () => true) {
    const check = (/** @type {unknown} */ one) => {
        if (!isOne(one)) throw new TypeError('Illegal invocation');
    };
    for (const type of types) {
        /** @type {WeakMap<EventTarget, Entry>} */
        const handlers = new WeakMap();
        defineAttribute(object, `on${type}`, {
            /** @this {EventTarget} */
            get() {
                check(this);
                return handlers.get(this)?.handler ?? null;
            },
            /** @this {EventTarget} @param {unknown} value */
            set(value) {
                check(this);
                const callable = typeof value === 'function' || (typeof value === 'object' && value !== null);
                set(handlers, this, { type, process: particular[type] ?? plainly }, callable ? value : null);
            },
        });
    }
}

/** @typedef {{ handler: any, listener: (event: Event) => void }} Entry */

/**
 * Sets an event handler.
 *
 * @param {WeakMap<EventTarget, Entry>} handlers
 * @param {EventTarget} target
 * @param {{ type: string, process: Processing }} how
 * @param {any} handler
 */
function set(handlers, target, { type, process }, handler) {
    const known = handlers.get(target);
    if (known && handler !== null) {
        known.handler = handler;
        return;
    }
    if (known) {
        handlers.delete(target);
        target.removeEventListener(type, known.listener);
    }
    if (handler === null) return;
    /** @type {Entry} */
    const entry = {
        handler,
        listener: (event) => {
            if (typeof entry.handler === 'function') process(entry.handler, target, event);
        },
    };
    handlers.set(target, entry);
    target.addEventListener(type, entry.listener);
}
