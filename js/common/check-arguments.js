/** Checks of arguments. Each throws an `invalid-argument` error if the argument is not allowed. */

import { invalid, show, TabacusError } from './errors.js';
import { isWellFormed } from './well-formed.js';

/** The longest name, in UTF-16 units: a longer one does not fit into an entry of an arena. */
const nameUnitsMax = 128;

/**
 * Checks a name.
 *
 * @param {unknown} name
 * @param {string} [argument] its name in error messages
 * @returns {string}
 */
export function checkName(name, argument = 'name') {
    const good =
        typeof name === 'string' && name.length > 0 && name.length <= nameUnitsMax && isWellFormed(name);
    if (!good) {
        throw invalid(argument, name, `a well-formed string of 1 to ${nameUnitsMax} UTF-16 units`);
    }
    return name;
}

/**
 * Checks that a value is an object with no other properties than known options, and returns it. Unknown
 * options are refused, because the default would silently replace an option that is misspelt.
 *
 * @template {string} Key
 * @param {unknown} options
 * @param {readonly Key[]} known the names of the options
 * @param {string} [argument] the object's name in error messages
 * @param {string} [subject] what has these options, for the message, such as `of lamport`
 * @returns {Partial<Record<Key, unknown>>}
 */
export function checkOptions(options, known, argument = 'options', subject = '') {
    if (typeof options !== 'object' || options === null || Array.isArray(options))
        throw invalid(argument, options, 'an object');
    for (const key of Object.keys(options)) {
        if (!(/** @type {readonly string[]} */ (known).includes(key))) {
            const allowed = known.length > 0 ? `one of ${known.join(', ')}` : 'none';
            throw new TabacusError(
                'invalid-argument',
                `there is no option ${show(key)}${subject && ` ${subject}`}: ${allowed}`,
                {
                    argument: `${argument}.${key}`,
                    value: /** @type {Record<string, unknown>} */ (options)[key],
                    allowed,
                },
            );
        }
    }
    return options;
}

/**
 * Checks an integer, and returns it.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @param {string} [otherwise] other values that the caller accepts, for the message
 * @returns {number}
 */
export function checkInteger(argument, value, least, most, otherwise = '') {
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
        throw invalid(argument, value, `an integer from ${least} to ${most}${otherwise}`);
    }
    return Number(value) + 0; // -0 is 0
}

/**
 * Whether a value is an AbortSignal, of this realm or of another one such as that of an iframe. A getter of
 * the platform throws for any object that is none (Web IDL §3.7.6).
 *
 * @param {unknown} value
 * @returns {value is AbortSignal}
 */
export function isSignal(value) {
    if (value instanceof AbortSignal) return true;
    try {
        return Reflect.get(AbortSignal.prototype, 'aborted', value) !== undefined;
    } catch {
        return false;
    }
}

/**
 * Checks that a value is one of those in a list, and returns it.
 *
 * @template {string} Value
 * @param {string} argument its name in error messages
 * @param {unknown} value
 * @param {readonly string[]} allowed
 * @returns {Value}
 */
export function checkOneOf(argument, value, allowed) {
    if (!(/** @type {readonly unknown[]} */ (allowed).includes(value))) {
        throw invalid(argument, value, `one of ${allowed.join(', ')}`);
    }
    return /** @type {Value} */ (value);
}

/**
 * Checks a boolean, and returns it.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 */
export function checkBoolean(argument, value) {
    if (typeof value !== 'boolean') throw invalid(argument, value, 'true or false');
    return value;
}

/**
 * Checks a function.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 */
export function checkFunction(argument, value) {
    if (typeof value !== 'function') throw invalid(argument, value, 'a function');
}

/**
 * Returns a shallow copy of options or of an array, so that later changes by the caller have no effect. Any
 * other value is returned itself: a later check refuses it.
 *
 * @template Options
 * @param {Options} options
 * @returns {Options}
 */
export const asPassed = (options) =>
    typeof options === 'object' && options
        ? Object.assign(Array.isArray(options) ? [] : Object.create(Object.getPrototypeOf(options)), options)
        : options;
