/** What navigator.locks.request() makes of its arguments: Web IDL's conversions, and §3.2.1's refusals, with Chromium's messages. */

import { requireArguments } from './web-idl.js';
import { isSignal } from '../common/check-arguments.js';

/** @typedef {{ mode: 'exclusive' | 'shared', ifAvailable: boolean, steal: boolean, signal: AbortSignal | undefined }} RequestOptions */

const request = "'request' on 'LockManager'";

/** @param {string} why */
const failed = (why) => `Failed to execute ${request}: ${why}.`;

/** The reason with which a stolen lock's previous holder is rejected. */
export const stolenMessage = "Lock broken by another request with the 'steal' option.";

/**
 * @param {ArrayLike<any>} given request(name, callback) or request(name, options, callback)
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
 * A dictionary: its members in the order of their names, each converted before the next is read.
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

/** @param {any} given */
function modeFrom(given = 'exclusive') {
    const mode = `${given}`;
    if (mode !== 'exclusive' && mode !== 'shared') {
        throw new TypeError(
            failed(`The provided value '${mode}' is not a valid enum value of type LockMode`),
        );
    }
    return mode;
}

/** @param {string} why @returns {never} */
function refuse(why) {
    throw new DOMException(failed(why), 'NotSupportedError');
}

/**
 * §3.2.1, the refusals of request() in its order.
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
 * §4.4: Web IDL's invocation of a callback that returns a promise: what it throws rejects.
 *
 * @param {(lock: any) => any} callback
 * @param {object | null} lock
 * @returns {Promise<any>}
 */
export const invoked = async (callback, lock) => callback(lock);
