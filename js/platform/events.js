/**
 * Interfaces of events that Node lacks, or that it implements differently from Web IDL. Each global object
 * has its own interface objects.
 */

import { defineAttribute, forEachGlobal, idlInterface, onlyInternal, requireArguments } from './web-idl.js';
import { isStorage } from './storage-interface.js';

/** A member of an event and of its dictionary. @typedef {{ convert: (value: any) => unknown, initial: unknown }} Member */

/** A nullable DOMString. @type {Member} */
const nullable = { convert: (value) => (value === null ? null : `${value}`), initial: null };

/** @type {Member} */
export const text = { convert: (value) => `${value}`, initial: '' };

/** A USVString. @type {Member} */
export const usv = { convert: (value) => `${value}`.replace(/\p{Surrogate}/gu, '\ufffd'), initial: '' };

/** An unsigned long. @type {Member} */
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

/**
 * Checks an argument that is a dictionary.
 *
 * @param {string} name that of the interface
 * @param {unknown} given
 */
function dictionary(name, given) {
    const good =
        given === undefined || given === null || typeof given === 'object' || typeof given === 'function';
    if (!good) throw new TypeError(`${name}: the dictionary is not an object`);
    return given ?? {};
}

/** Converts the value of a member. @param {Member} member @param {unknown} value */
const converted = (member, value) => (value === undefined ? member.initial : member.convert(value));

/** The dictionaries of events that are trusted: those that trusted() makes. @type {WeakSet<object>} */
const ours = new WeakSet();

/**
 * Converts EventInit (DOM §2.2). Its members precede those of dictionaries that inherit it (Web IDL §3.2.17).
 *
 * @param {any} given
 */
const eventInit = ({ bubbles, cancelable, composed }) => ({
    bubbles: Boolean(bubbles),
    cancelable: Boolean(cancelable),
    composed: Boolean(composed),
});

/** The key of the functions that read and change the members of an event. */
const held = Symbol('held');

/**
 * Makes the interface of an event.
 *
 * @param {string} name
 * @param {Record<string, Member>} members sorted by their names, which is the order of conversion (Web IDL
 *   §3.2.17)
 * @param {string[]} [order] the arguments of its legacy initialiser, init…Event(), after the first three
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
 * Defines the legacy initialiser. It must be called on an event of the interface, and converts its arguments
 * from left to right (Web IDL §3.7.7). While the event is dispatched, it has no other effect (DOM §2.2).
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

/** The interface StorageEvent (HTML §12.2.4). */
export const storageEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface(
        'StorageEvent',
        { key: nullable, newValue: nullable, oldValue: nullable, storageArea: storage, url: usv },
        ['key', 'oldValue', 'newValue', 'url', 'storageArea'],
    ),
);

/** The interface ErrorEvent (HTML §8.1.4.3). */
export const errorEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface('ErrorEvent', {
        colno: number,
        error: { convert: (value) => value, initial: undefined },
        filename: usv,
        lineno: number,
        message: text,
    }),
);

/** The interface PageTransitionEvent (HTML §7.4.6.3). */
export const pageTransitionEventInterface = /* @__PURE__ */ forEachGlobal(() =>
    eventInterface('PageTransitionEvent', { persisted: { convert: Boolean, initial: false } }),
);

/** The interface BeforeUnloadEvent (HTML §7.4.3). @returns {any} */
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
 * Makes a trusted event, as if the user agent had made it. In Node `isTrusted` is then true, because Node
 * reads a symbol of its own from the dictionary. In a browser it is always false.
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

/**
 * Converts a member of QuotaExceededErrorOptions (Web IDL §4.4).
 *
 * @param {any} value
 * @param {string} member
 */
function amount(value, member) {
    if (value === undefined) return null;
    const number = Number(value);
    if (!Number.isFinite(number)) throw new TypeError(`QuotaExceededError: ${member} is not a finite number`);
    if (number < 0) throw new RangeError(`QuotaExceededError: ${member} is negative`);
    return number;
}

/** The class QuotaExceededError (Web IDL §4.4): that of the platform, if it has one. */
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
