/** What Web IDL asks of an interface, and a JavaScript class does not do by itself. */

/** Passed to constructors that scripts must not call. */
export const internal = Symbol('internal');

/**
 * @param {unknown} key
 * @throws {TypeError} Web IDL §3.7.1: the interface has no constructor operation
 */
export function onlyInternal(key) {
    if (key !== internal) throw new TypeError('Illegal constructor');
}

/**
 * Web IDL §3.7.1: overload resolution begins with the number of arguments. With Chromium's messages.
 *
 * @param {string} act what is not done: `execute 'key' on 'Storage'`, `construct 'Worker'`
 * @param {ArrayLike<unknown>} given
 * @param {number} required
 */
export function requireArguments(act, given, required) {
    if (given.length >= required) return;
    const count = `${required} argument${required === 1 ? '' : 's'}`;
    throw new TypeError(`Failed to ${act}: ${count} required, but only ${given.length} present.`);
}

/** A property stays as it is, but for this. */
const enumerable = { enumerable: true };

/** Prototypes of platform objects. @type {WeakSet<object>} */
const prototypes = new WeakSet();

/** Web IDL §2.12: an object of an interface that was made here. @param {object} value */
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
 * Web IDL §3.7.3 and §3.7.7: members are enumerable; the prototype has a class string.
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
 * Web IDL §3.7.1: each global object has an interface object of its own. Those that differ in nothing else have their
 * members of one, made at the first call: so what is one global object's can be called on another's objects.
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

/** @param {any} Original */
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
 * Web IDL §3.7.7: a regular operation of a global object, with its name and how many arguments it requires.
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
 * Web IDL §3.7.6: an attribute, whose getter and setter have its name.
 *
 * @param {object} object where it is defined
 * @param {string} name
 * @param {{ get: () => unknown, set?: (value: any) => void }} accessors
 */
export function defineAttribute(object, name, { get, set }) {
    Object.defineProperty(get, 'name', { value: `get ${name}` });
    if (set) Object.defineProperty(set, 'name', { value: `set ${name}` });
    Object.defineProperty(object, name, { get, set, configurable: true, enumerable: true });
}

/** @typedef {(object: any) => boolean} Brand is it one of the interface's? */

/** How a handler is called. @typedef {(handler: Function, target: EventTarget, event: any) => void} Processing */

/** @type {Processing} false cancels */
export const plainly = (handler, target, event) => {
    if (handler.call(target, event) === false) event.preventDefault();
};

/**
 * HTML §8.1.8.1, event handler IDL attributes: the listener keeps the position of the first handler that was
 * set, until null takes it away; what is no object is null.
 *
 * @param {object} object where the attributes are defined
 * @param {readonly string[]} types
 * @param {Record<string, Processing>} [particular] types whose handlers are called otherwise
 * @param {Brand} [isOne]
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
