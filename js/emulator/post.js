/** What postMessage() of windows, workers and their scopes makes of its arguments. */

import { requireArguments } from './idl.js';

/** A message on its way to its one target. @typedef {{ data: unknown, ports: MessagePort[] }} Posted */

/**
 * HTML §2.7.5, StructuredSerializeWithTransfer and back.
 *
 * @param {unknown} message
 * @param {any[]} transfer
 * @returns {Posted}
 */
function transferred(message, transfer) {
    const ports = transfer.filter((one) => one instanceof MessagePort);
    return /** @type {Posted} */ (cloned({ data: checkCloneable(message, transfer), ports }, { transfer }));
}

/** Node clones as a plain object what is none: windows, documents, channels. @param {unknown} value @param {readonly unknown[]} transfer */
function checkCloneable(value, transfer) {
    const refused = value instanceof EventTarget && !transfer.includes(value);
    if (refused) throw new DOMException(`${Object.prototype.toString.call(value)} cannot be cloned`, 'DataCloneError');
    return value;
}

/** HTML §2.7.3 @param {unknown} value @param {StructuredSerializeOptions} [options] */
export function cloned(value, options) {
    try {
        return structuredClone(checkCloneable(value, options?.transfer ?? []), options);
    } catch (error) {
        // Node's: a TypeError.
        const { code, message } = /** @type {any} */ (error) ?? {};
        if (code === 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST') throw new DOMException(message, 'DataCloneError');
        throw error;
    }
}

/** @param {any} given a sequence<object>? @returns {any[]} */
function sequence(given) {
    const isObject = (/** @type {any} */ one) => (typeof one === 'object' && one !== null) || typeof one === 'function';
    if (!isObject(given) || typeof (/** @type {any} */ (given)[Symbol.iterator]) !== 'function') throw new TypeError('postMessage: the transfer is not a sequence');
    const items = [.../** @type {any} */ (given)];
    if (!items.every(isObject)) throw new TypeError('postMessage: what is transferred is not an object');
    return items;
}

/** @param {any} given a dictionary? */
function dictionary(given) {
    if (given === undefined || given === null) return {};
    if (typeof given !== 'object' && typeof given !== 'function') throw new TypeError('postMessage: the options are not an object');
    return given;
}

/** @param {any} options */
const transferOf = ({ transfer }) => (transfer === undefined ? [] : sequence(transfer));

/**
 * postMessage(message, transfer) and postMessage(message, { transfer }) of workers (HTML §10.2.6.3).
 *
 * @param {any[]} given
 * @returns {Posted}
 */
export function postedToWorker(given) {
    requireArguments('postMessage', given, 1);
    const [message, options] = given;
    const transfer = typeof options?.[Symbol.iterator] === 'function' && typeof options === 'object' ? sequence(options) : transferOf(dictionary(options));
    return transferred(message, transfer);
}

/**
 * postMessage(message, targetOrigin, transfer) and postMessage(message, { targetOrigin, transfer }) of windows
 * (HTML §9.3.3).
 *
 * @param {any[]} given
 * @param {string} from the sender's origin
 * @returns {Posted & { targetOrigin: string }} `*`: whatever the target's is
 */
export function postedToWindow(given, from) {
    requireArguments('postMessage', given, 1);
    const [message, second] = given;
    const byOptions = given.length < 3 && (second === undefined || second === null || typeof second === 'object' || typeof second === 'function');
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
