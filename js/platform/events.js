/** Events that Node lacks, or makes otherwise than Web IDL specifies: an interface of its own for each global object. */

import { defineAttribute, forEachGlobal, idlInterface, onlyInternal, requireArguments } from './web-idl.js';
import { isStorage } from './storage-interface.js';

/** A member of an event and of its dictionary. @typedef {{ convert: (value: any) => unknown, initial: unknown }} Member */

/** @type {Member} a nullable DOMString */
const nullable = { convert: (value) => (value === null ? null : `${value}`), initial: null };

/** @type {Member} */
export const text = { convert: (value) => `${value}`, initial: '' };

/** @type {Member} a USVString */
export const usv = { convert: (value) => `${value}`.replace(/\p{Surrogate}/gu, '\ufffd'), initial: '' };

/** @type {Member} an unsigned long */
const number = { convert: (value) => value >>> 0, initial: 0 };

/** @type {Member} */
const storage = {
    initial: null,
    convert: (value) => {
        if (value !== null && !isStorage(value))
            throw new TypeError('StorageEvent: the storageArea is not a Storage object');
        return value;
    },
};

/** @param {string} name @param {unknown} given what stands for a dictionary */
function dictionary(name, given) {
    const good =
        given === undefined || given === null || typeof given === 'object' || typeof given === 'function';
    if (!good) throw new TypeError(`${name}: the dictionary is not an object`);
    return given ?? {};
}

/** @param {Member} member @param {unknown} value */
const converted = ({ convert, initial }, value) => (value === undefined ? initial : convert(value));

/** Dictionaries of events that are the user agent's own. @type {WeakSet<object>} */
const ours = new WeakSet();

/** EventInit (DOM §2.2), whose members come before those of the dictionaries that inherit it (Web IDL §3.2.17). @param {any} given */
const eventInit = ({ bubbles, cancelable, composed }) => ({
    bubbles: Boolean(bubbles),
    cancelable: Boolean(cancelable),
    composed: Boolean(composed),
});

/** What reads and changes an event's members. */
const held = Symbol('held');

/**
 * @param {string} name
 * @param {Record<string, Member>} members in the order of their names, which is that of conversion (Web IDL §3.2.17)
 * @param {string[]} [order] of the arguments of its legacy initialiser, init…Event(), beyond the first three
 * @returns {any}
 */
export function eventInterface(name, members, order) {
    class Interface extends Event {
        /** @type {Record<string, unknown>} */
        #held;

        /** @param {string} type @param {any} [init] */
        constructor(type, init) {
            requireArguments(`construct '${name}'`, arguments, 1);
            const asked = `${type}`;
            const given = dictionary(name, init);
            super(asked, ours.has(given) ? given : eventInit(given));
            this.#held = Object.fromEntries(
                Object.entries(members).map(([key, member]) => [
                    key,
                    converted(member, /** @type {any} */ (given)[key]),
                ]),
            );
        }

        static [held] = {
            /** @param {Interface} event @param {string} member */
            get: (event, member) => event.#held[member],
            /** @param {Interface} event @param {Record<string, unknown>} values */
            set: (event, values) => (event.#held = values),
        };
    }
    const { get: read, set: write } = Interface[held];
    Reflect.deleteProperty(Interface, held);
    for (const member of Object.keys(members)) {
        /** @this {any} */
        const get = function () {
            return read(this, member);
        };
        defineAttribute(Interface.prototype, member, { get });
    }
    if (order)
        defineInitialiser(
            Interface.prototype,
            `init${name}`,
            { read, write },
            order.map((key) => [key, /** @type {Member} */ (members[key])]),
        );
    return idlInterface(Interface, name, { length: 1 });
}

/**
 * Web IDL §3.7.7: it is called on one of the interface's. Arguments are converted from left to right; DOM §2.2: and
 * then nothing, while the event is dispatched.
 *
 * @param {object} prototype
 * @param {string} operation
 * @param {{ read: (event: any, member: string) => unknown, write: (event: any, values: Record<string, unknown>) => unknown }} held
 * @param {[string, Member][]} order
 */
function defineInitialiser(prototype, operation, { read, write }, order) {
    /** @this {any} @param {any} type @param {any} bubbles @param {any} cancelable @param {any[]} rest */
    const value = function (type, bubbles = false, cancelable = false, ...rest) {
        read(this, '');
        requireArguments(`execute '${operation}'`, arguments, 1);
        const asked = `${type}`;
        const values = Object.fromEntries(
            order.map(([key, member], at) => [key, converted(member, rest[at])]),
        );
        if (this.eventPhase !== Event.NONE) return;
        Event.prototype.initEvent.call(this, asked, Boolean(bubbles), Boolean(cancelable));
        write(this, values);
    };
    Object.defineProperty(value, 'name', { value: operation });
    Object.defineProperty(prototype, operation, {
        value,
        writable: true,
        configurable: true,
        enumerable: true,
    });
}

/** HTML §12.2.4. */
export const storageEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface(
        'StorageEvent',
        { key: nullable, newValue: nullable, oldValue: nullable, storageArea: storage, url: usv },
        ['key', 'oldValue', 'newValue', 'url', 'storageArea'],
    ),
);

/** HTML §8.1.4.3. */
export const errorEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface('ErrorEvent', {
        colno: number,
        error: { convert: (value) => value, initial: undefined },
        filename: usv,
        lineno: number,
        message: text,
    }),
);

/** HTML §7.4.6.3. */
export const pageTransitionEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface('PageTransitionEvent', { persisted: { convert: Boolean, initial: false } }),
);

/** HTML §7.4.3. @returns {any} */
export const beforeUnloadEventInterface = () => {
    class BeforeUnloadEvent extends /** @type {any} */ (Event) {
        #returnValue = '';

        /** @param {symbol} key @param {EventInit} [init] */
        constructor(key, init) {
            onlyInternal(key);
            super('beforeunload', init);
        }

        get returnValue() {
            return this.#returnValue;
        }
        set returnValue(value) {
            this.#returnValue = `${value}`;
        }
    }
    return idlInterface(BeforeUnloadEvent, 'BeforeUnloadEvent');
};

/**
 * An event that is the user agent's own, `isTrusted`: Node asks its dictionary for a symbol. A page's is not trusted,
 * whatever we do.
 *
 * @param {new (type: any, init: any) => Event} Interface
 * @param {unknown} type
 * @param {object} [init]
 */
export function trusted(Interface, type, init = {}) {
    const get = (/** @type {any} */ target, /** @type {string | symbol} */ key) =>
        typeof key === 'symbol' ? true : target[key];
    const given = new Proxy(init, { get });
    ours.add(given);
    return new Interface(type, given);
}

/** A member of QuotaExceededErrorOptions (Web IDL §4.4). @param {any} value @param {string} member */
function amount(value, member) {
    if (value === undefined) return null;
    const number = Number(value);
    if (!Number.isFinite(number)) throw new TypeError(`QuotaExceededError: ${member} is not a finite number`);
    if (number < 0) throw new RangeError(`QuotaExceededError: ${member} is negative`);
    return number;
}

/** Web IDL's QuotaExceededError, where the host has none (§4.4). */
export const QuotaExceededError =
    /** @type {any} */ (globalThis).QuotaExceededError ??
    idlInterface(
        class extends DOMException {
            #quota;
            #requested;

            /** @param {string} [message] @param {any} [options] */
            constructor(message = '', options = {}) {
                super(message, 'QuotaExceededError');
                this.#quota = amount(options?.quota, 'quota');
                this.#requested = amount(options?.requested, 'requested');
                if (this.#quota !== null && this.#requested !== null && this.#requested < this.#quota) {
                    throw new RangeError('QuotaExceededError: the requested is less than the quota');
                }
            }

            get quota() {
                return this.#quota;
            }
            get requested() {
                return this.#requested;
            }
        },
        'QuotaExceededError',
    );
