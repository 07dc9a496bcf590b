/** Converts the arguments of postMessage() of windows, workers and ports to a message. */

import { QuotaExceededError } from '../../platform/events.js';
import { isPlatformObject, requireArguments } from '../../platform/web-idl.js';
import { isDetached, isTransferable, transfer as transferOne } from './transferable.js';

/** A port of the emulator or of the host. @typedef {import('./port.js').Port | MessagePort} AnyPort */

/** A message on its way to its one target. @typedef {{ data: unknown, ports: AnyPort[] }} Posted */

/** @param {unknown} value @returns {value is AnyPort} */
export const isPort = (value) => isTransferable(value) || value instanceof MessagePort;

/** @param {string} why */
const uncloneable = (why) => new DOMException(why, 'DataCloneError');

/**
 * Serializes and deserializes a message, with transferred objects (HTML §2.7.5, StructuredSerializeWithTransfer).
 *
 * @param {unknown} message
 * @param {any[]} transfer
 * @returns {Posted}
 */
export function transferred(message, transfer) {
    const own = transfer.filter(isTransferable);
    if (new Set(own).size < own.length) throw uncloneable('a port is transferred twice');
    if (own.some(isDetached)) throw uncloneable('a port was closed, or transferred before');
    const rest = transfer.filter((one) => !isTransferable(one));
    const exceptions = exceptionsIn(message, transfer);
    /** The objects that stand for ports and exceptions within the clone. @type {Map<unknown, object>} */
    const marks = new Map([...own, ...exceptions].map((one) => [one, {}]));
    for (const one of rest.filter(isPort)) marks.set(one, one);
    const data = own.length + exceptions.length > 0 ? marked(message, marks, new Map()) : message;
    const listed = transfer.filter(isPort).map((port) => marks.get(port) ?? port);
    const copy = /** @type {any} */ (clone({ data, listed, marks: [...marks.values()] }, { transfer: rest }));
    const there = [...own.map(transferOne), ...exceptions.map(copied)];
    const arrived = new Map(there.map((one, at) => [copy.marks[at], one]));
    const ports = copy.listed.map((/** @type {any} */ one) => arrived.get(one) ?? one);
    return { data: arrived.size > 0 ? replaced(copy.data, arrived, new Set()) : copy.data, ports };
}

/**
 * Clones an exception with its name and message (Web IDL §2.8.2). Node would clone it as a plain object.
 *
 * @param {any} exception
 * @returns {DOMException}
 */
function copied(exception) {
    const { name, message, quota, requested } = exception;
    if (!(exception instanceof QuotaExceededError)) return new DOMException(message, name);
    return new QuotaExceededError(message, { quota: quota ?? undefined, requested: requested ?? undefined });
}

/** Whether structuredClone() treats the value as an object without a type of its own. @param {any} value */
const isPlain = (value) => Object.prototype.toString.call(value) === '[object Object]';

/**
 * A copy in which marks stand for ports and exceptions. The posted value stays as the caller made it.
 *
 * @param {any} value
 * @param {Map<unknown, object>} marks
 * @param {Map<object, any>} copies
 * @returns {any}
 */
function marked(value, marks, copies) {
    if (typeof value !== 'object' || value === null) return value;
    if (marks.has(value)) return marks.get(value);
    if (copies.has(value)) return copies.get(value);
    if (isRefused(value)) throw refusal(value);
    const copy = Array.isArray(value)
        ? Array(value.length)
        : value instanceof Map
          ? new Map()
          : value instanceof Set
            ? new Set()
            : isPlain(value)
              ? {}
              : undefined;
    if (!copy) return value;
    copies.set(value, copy);
    const inner = (/** @type {any} */ one) => marked(one, marks, copies);
    if (copy instanceof Map) for (const [key, one] of value) copy.set(inner(key), inner(one));
    else if (copy instanceof Set) for (const one of value) copy.add(inner(one));
    else
        for (const [key, one] of Object.entries(value))
            Object.defineProperty(copy, key, {
                value: inner(one),
                writable: true,
                enumerable: true,
                configurable: true,
            });
    return copy;
}

/**
 * A clone, in which ports and exceptions replace their marks.
 *
 * @param {any} value
 * @param {Map<unknown, object>} arrived
 * @param {Set<object>} seen
 * @returns {any}
 */
function replaced(value, arrived, seen) {
    if (arrived.has(value)) return arrived.get(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return value;
    seen.add(value);
    const inner = (/** @type {any} */ one) => replaced(one, arrived, seen);
    if (value instanceof Map)
        refill(
            value,
            [...value].map(([key, one]) => [inner(key), inner(one)]),
            ([key, one]) => value.set(key, one),
        );
    else if (value instanceof Set) refill(value, [...value].map(inner), (one) => value.add(one));
    else if (Array.isArray(value) || isPlain(value))
        for (const [key, one] of Object.entries(value)) value[key] = inner(one);
    return value;
}

/** @param {Map<any, any> | Set<any>} collection @param {any[]} items @param {(item: any) => void} add */
function refill(collection, items, add) {
    collection.clear();
    items.forEach(add);
}

/**
 * Whether the value is shared memory, which cannot be posted if `crossOriginIsolated` is false (HTML §2.7.3).
 *
 * @param {any} value
 */
const isShared = (value) =>
    typeof SharedArrayBuffer === 'function' &&
    (ArrayBuffer.isView(value) ? value.buffer : value) instanceof SharedArrayBuffer;

/**
 * Whether the value cannot be serialized: exceptions are the only serializable platform objects.
 *
 * @param {object} value
 */
const isRefused = (value) =>
    isShared(value) ||
    value instanceof EventTarget ||
    value instanceof Event ||
    (!(value instanceof DOMException) && isPlatformObject(value));

/** @param {object} value */
const refusal = (value) => uncloneable(`${Object.prototype.toString.call(value)} cannot be cloned`);

/** @param {unknown} value @returns {value is object} */
const isObject = (value) => typeof value === 'object' && value !== null;

/**
 * The values that are cloned with a value. Does not call accessors, since structuredClone() must call them once.
 *
 * @param {any} value
 * @returns {unknown[]}
 */
function within(value) {
    if (Array.isArray(value)) return Object.values(value);
    if (value instanceof Map) return [...value].flat();
    if (value instanceof Set) return [...value];
    return isPlain(value)
        ? Object.keys(value).map((key) => Object.getOwnPropertyDescriptor(value, key)?.value)
        : [];
}

/**
 * Finds the exceptions within a value.
 *
 * @param {unknown} value
 * @param {readonly unknown[]} transfer
 * @returns {DOMException[]}
 * @throws {DOMException} if the value contains a window, a document, a channel or such (HTML §2.7.3), which Node would
 *   clone as plain objects
 */
function exceptionsIn(value, transfer) {
    const found = new Set([value]);
    // The iteration of a set includes what is added meanwhile.
    for (const one of found) {
        if (!isObject(one) || transfer.includes(one)) continue;
        if (isRefused(one)) throw refusal(one);
        for (const inner of within(one)) if (isObject(inner)) found.add(inner);
    }
    return [...found].filter((one) => one instanceof DOMException);
}

/** @param {unknown} value @param {StructuredSerializeOptions} [options] */
function clone(value, options) {
    try {
        return structuredClone(value, options);
    } catch (error) {
        // Node throws TypeErrors here.
        const { code, message } = /** @type {any} */ (error) ?? {};
        if (code === 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST' || code === 'ERR_INVALID_TRANSFER_OBJECT')
            throw uncloneable(message);
        throw error;
    }
}

/** Clones a message that may have many receivers (HTML §2.7.3). @param {unknown} value */
export const cloned = (value) => transferred(value, []).data;

/** Converts to a `sequence<object>`. @param {any} given @returns {any[]} @throws {TypeError} if it is none */
function sequence(given) {
    const isObject = (/** @type {any} */ one) =>
        (typeof one === 'object' && one !== null) || typeof one === 'function';
    if (!isObject(given) || typeof (/** @type {any} */ (given)[Symbol.iterator]) !== 'function')
        throw new TypeError('postMessage: the transfer is not a sequence');
    const items = [.../** @type {any} */ (given)];
    if (!items.every(isObject)) throw new TypeError('postMessage: what is transferred is not an object');
    return items;
}

/** Converts to a dictionary. @param {any} given @throws {TypeError} if it is none */
function dictionary(given) {
    if (given === undefined || given === null) return {};
    if (typeof given !== 'object' && typeof given !== 'function')
        throw new TypeError('postMessage: the options are not an object');
    return given;
}

/** @param {any} options */
const transferOf = ({ transfer }) => (transfer === undefined ? [] : sequence(transfer));

/**
 * Makes the message of a worker's postMessage() (HTML §10.2.6.3), which takes (message, transfer) or
 * (message, { transfer }).
 *
 * @param {any[]} given
 * @param {import('./port.js').Port} [through] the port that posts, which cannot be transferred through itself
 * @returns {Posted}
 */
export function postedToWorker(given, through) {
    requireArguments("execute 'postMessage'", given, 1);
    const [message, options] = given;
    const transfer =
        typeof options?.[Symbol.iterator] === 'function' && typeof options === 'object'
            ? sequence(options)
            : transferOf(dictionary(options));
    if (through && transfer.includes(through))
        throw uncloneable('a port cannot be transferred through itself');
    return transferred(message, transfer);
}

/** Does the work of structuredClone(value, { transfer }) (§2.7.10). @param {any[]} given @returns {Posted} */
export const clonedByScript = ([value, options]) => transferred(value, transferOf(dictionary(options)));

/**
 * Makes the message of a window's postMessage() (HTML §9.3.3), which takes (message, targetOrigin, transfer) or
 * (message, { targetOrigin, transfer }).
 *
 * @param {any[]} given
 * @param {string} from the origin of the sender
 * @returns {Posted & { targetOrigin: string }} `*` is any origin
 */
export function postedToWindow(given, from) {
    requireArguments("execute 'postMessage'", given, 1);
    const [message, second] = given;
    const byOptions =
        given.length < 3 &&
        (second === undefined ||
            second === null ||
            typeof second === 'object' ||
            typeof second === 'function');
    const options = byOptions ? dictionary(second) : {};
    const named = byOptions ? options.targetOrigin : second;
    const target = byOptions && named === undefined ? '/' : `${named}`.toWellFormed();
    const transfer = byOptions ? transferOf(options) : given[2] === undefined ? [] : sequence(given[2]);
    return { targetOrigin: originOf(target, from), ...transferred(message, transfer) };
}

/** @param {string} target @param {string} from */
function originOf(target, from) {
    if (target === '*') return target;
    if (target === '/') return from;
    if (!URL.canParse(target)) throw new DOMException(`postMessage: '${target}' is no origin`, 'SyntaxError');
    return new URL(target).origin;
}
