/**
 * The arguments of navigator.locks.request(): the conversions of Web IDL, and the checks of §3.2.1, with
 * Chromium's messages.
 */

import { requireArguments } from './web-idl.js';
import { isSignal } from '../common/check-arguments.js';

/** @typedef {{ mode: 'exclusive' | 'shared', ifAvailable: boolean, steal: boolean, signal: AbortSignal | undefined }} RequestOptions */

const request = "'request' on 'LockManager'";

/** Makes a message. @param {string} why */
const failed = (why) => `Failed to execute ${request}: ${why}.`;

/** The message with which the previous holder of a stolen lock is rejected. */
export const stolenMessage = "Lock broken by another request with the 'steal' option.";

/**
 * Converts the arguments.
 *
 * @param {ArrayLike<any>} given those of request(name, callback) or request(name, options, callback)
 * @returns {{ name: string, options: RequestOptions, callback: (lock: any) => any }}
 */
export function requestFrom(given) {
    requireArguments(`execute ${request}`, given, 2);
    const name = `${given[0]}`;
    const options = optionsFrom(given.length > 2 ? given[1] : undefined);
    const at = given.length > 2 ? 2 : 1;
    const callback = given[at];
    if (typeof callback !== 'function')
        throw new TypeError(failed(`parameter ${at + 1} is not of type 'Function'`));
    return { name, options, callback };
}

/** @type {RequestOptions} */
const defaults = Object.freeze({ ifAvailable: false, mode: 'exclusive', signal: undefined, steal: false });

/**
 * Converts the dictionary of options. Its members are read in the order of their names, and each is converted
 * before the next is read.
 *
 * @param {any} given
 * @returns {RequestOptions}
 */
function optionsFrom(given) {
    if (given === undefined || given === null) return defaults;
    if (typeof given !== 'object' && typeof given !== 'function') {
        throw new TypeError(failed("The provided value is not of type 'LockOptions'"));
    }
    const ifAvailable = Boolean(given.ifAvailable);
    const mode = modeFrom(given.mode);
    const { signal } = given;
    if (signal !== undefined && !isSignal(signal)) {
        throw new TypeError(failed('member signal is not of type AbortSignal'));
    }
    return { ifAvailable, mode, signal, steal: Boolean(given.steal) };
}

/** Converts the option `mode`. @param {any} given */
function modeFrom(given = 'exclusive') {
    const mode = `${given}`;
    if (mode !== 'exclusive' && mode !== 'shared') {
        throw new TypeError(
            failed(`The provided value '${mode}' is not a valid enum value of type LockMode`),
        );
    }
    return mode;
}

/** Throws a NotSupportedError. @param {string} why @returns {never} */
function refuse(why) {
    throw new DOMException(failed(why), 'NotSupportedError');
}

/**
 * Makes the checks of request() in the order of §3.2.1.
 *
 * @param {string} name
 * @param {RequestOptions} options
 */
export function checkRequest(name, { mode, ifAvailable, steal, signal }) {
    if (name.startsWith('-')) refuse("Names cannot start with '-'");
    if (steal && ifAvailable) refuse("The 'steal' and 'ifAvailable' options cannot be used together");
    if (steal && mode !== 'exclusive') refuse("The 'steal' option may only be used with 'exclusive' locks");
    if (signal && steal) refuse("The 'signal' and 'steal' options cannot be used together");
    if (signal && ifAvailable) refuse("The 'signal' and 'ifAvailable' options cannot be used together");
    signal?.throwIfAborted();
}

/**
 * Calls the callback (§4.4). If it throws, the returned promise rejects, as Web IDL specifies for callbacks
 * that return a promise.
 *
 * @param {(lock: any) => any} callback
 * @param {object | null} lock
 * @returns {Promise<any>}
 */
export const invoked = async (callback, lock) => callback(lock);
