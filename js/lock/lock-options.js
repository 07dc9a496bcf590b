/** What the callers of a lock pass, checked before anything is done. */

import { invalid } from '../common/errors.js';
import { checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { isWellFormed } from '../common/well-formed.js';
import { Held } from './held.js';

/**
 * @typedef {object} LockOptions
 * @property {'exclusive' | 'shared'} [mode] the default is `exclusive`
 * @property {boolean} [ifAvailable] do not wait: null in place of a held lock
 * @property {boolean} [steal] take it from its holders, which are notified and can write nothing any more
 * @property {AbortSignal} [signal] ends the wait with its reason
 * @property {number} [timeout] milliseconds to wait at most; then a `TimeoutError`. 0: unless the lock is free
 * @property {number} [maxHold] milliseconds after which the lock is lost, also by a frozen or hung
 *   holder. An agreement of all who use the lock: pass the same everywhere
 * @property {string} [label] what query() and a DeadlockError call it, up to 256 UTF-16 units
 * @property {Held} [within] the held lock under which this is asked: of the same name, it is entered
 *   again; of another, a cycle of such waits ends in a DeadlockError
 */

const labelUnitsMax = 256;

/** The longest that every engine's timers count. */
const maxHoldMsMax = 2 ** 31 - 1;

/** @param {string} message as Web Locks §3.2.1 refuses options that exclude each other */
const unsupported = (message) => new DOMException(message, 'NotSupportedError');

/**
 * @param {string} argument
 * @param {unknown} value
 */
function checkFlag(argument, value) {
    if (value !== undefined && typeof value !== 'boolean') throw invalid(argument, value, 'true or false');
    return value === true;
}

/** @param {unknown} label */
function checkLabel(label) {
    const good =
        typeof label === 'string' &&
        label.length <= labelUnitsMax &&
        !label.includes('\0') &&
        isWellFormed(label);
    if (!good)
        throw invalid(
            'label',
            label,
            `a well-formed string of at most ${labelUnitsMax} UTF-16 units without U+0000`,
        );
    return label;
}

/** @param {unknown} given */
export function checkLockOptions(given = {}) {
    const options = checkOptions(given, [
        'mode',
        'ifAvailable',
        'steal',
        'signal',
        'timeout',
        'maxHold',
        'label',
        'within',
    ]);
    const { mode = 'exclusive', maxHold, within } = options;
    if (mode !== 'exclusive' && mode !== 'shared') throw invalid('mode', mode, 'exclusive or shared');
    const ifAvailable = checkFlag('ifAvailable', options.ifAvailable);
    const steal = checkFlag('steal', options.steal);
    const signal = checkSignal(options.signal);
    const timeout = checkTimeout(options.timeout);
    const good =
        maxHold === undefined || (typeof maxHold === 'number' && maxHold >= 1 && maxHold <= maxHoldMsMax);
    if (!good) throw invalid('maxHold', maxHold, `a number of milliseconds from 1 to ${maxHoldMsMax}`);
    if (within !== undefined && !(within instanceof Held)) throw invalid('within', within, 'a held lock');
    if (steal && ifAvailable) throw unsupported('steal and ifAvailable exclude each other');
    if (steal && mode !== 'exclusive') throw unsupported('steal is for exclusive locks');
    if (signal && (steal || ifAvailable)) throw unsupported('a signal is for requests that wait');
    return {
        mode: /** @type {'exclusive' | 'shared'} */ (mode),
        ifAvailable,
        steal,
        signal,
        timeout_ms: timeout,
        maxHold_ms: /** @type {number | undefined} */ (maxHold),
        label: checkLabel(options.label === undefined ? '' : options.label),
        within,
    };
}

/** @param {unknown} given */
export function checkOnceOptions(given = {}) {
    const options = checkOptions(given, ['ttl', 'signal', 'timeout', 'maxHold']);
    const { ttl = 0, ...rest } = options;
    if (typeof ttl !== 'number' || !(ttl >= 0)) throw invalid('ttl', ttl, 'a number of milliseconds from 0');
    return { ttl, ...checkLockOptions(rest) };
}

/** @param {unknown} given */
export const checkSemaphoreOptions = (given = {}) =>
    checkLockOptions(checkOptions(given, ['ifAvailable', 'signal', 'timeout', 'maxHold', 'label', 'within']));
