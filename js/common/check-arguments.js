/** Checks of what callers pass. Each check throws an `invalid-argument` error. */

import { invalid, show, TabacusError } from './errors.js';
import { isWellFormed } from './well-formed.js';

/** The longest name, in UTF-16 units: what fits into an arena's entry. */
const nameUnitsMax = 128;

/**
 * @param {unknown} name
 * @param {string} [argument] what the caller calls it
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
 * An object of options, all of them known: a misspelt option must not be a default in silence.
 *
 * @template {string} Key
 * @param {unknown} options
 * @param {readonly Key[]} known
 * @param {string} [argument] what the caller calls them
 * @param {string} [whose] for the message
 * @returns {Partial<Record<Key, unknown>>}
 */
export function checkOptions(options, known, argument = 'options', whose = '') {
    if (typeof options !== 'object' || options === null || Array.isArray(options))
        throw invalid(argument, options, 'an object');
    for (const key of Object.keys(options)) {
        if (!(/** @type {readonly string[]} */ (known).includes(key))) {
            const allowed = known.length > 0 ? `one of ${known.join(', ')}` : 'none';
            throw new TabacusError(
                'invalid-argument',
                `there is no option ${show(key)}${whose && ` ${whose}`}: ${allowed}`,
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
 * @param {string} argument
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @param {string} [otherwise] for the message: what else the caller takes
 * @returns {number}
 */
export function checkInteger(argument, value, least, most, otherwise = '') {
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
        throw invalid(argument, value, `an integer from ${least} to ${most}${otherwise}`);
    }
    return Number(value) + 0; // -0 is 0
}

/**
 * Whether the value is an AbortSignal of this realm or of another, such as an iframe's. Its brand decides (Web IDL
 * §3.7.6).
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
 * @template {string} Value
 * @param {string} argument
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
 * @param {string} argument
 * @param {unknown} value
 */
export function checkBoolean(argument, value) {
    if (typeof value !== 'boolean') throw invalid(argument, value, 'true or false');
    return value;
}

/**
 * @param {string} argument
 * @param {unknown} value
 */
export function checkFunction(argument, value) {
    if (typeof value !== 'function') throw invalid(argument, value, 'a function');
}

/**
 * A copy of options, or of an array, as they are when they are passed. Any other value is returned, for a later check
 * to refuse.
 *
 * @template Options
 * @param {Options} options
 * @returns {Options}
 */
export const asPassed = (options) =>
    typeof options === 'object' && options
        ? Object.assign(Array.isArray(options) ? [] : Object.create(Object.getPrototypeOf(options)), options)
        : options;
