/** Checks of the options of locks, which are made before anything else is done. */

import { invalid } from '../common/errors.js';
import { checkOneOf, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { isWellFormed } from '../common/well-formed.js';
import { Held } from './held.js';

/**
 * The options of a request for a lock.
 *
 * @typedef {object} LockOptions
 * @property {'exclusive' | 'shared'} [mode] `exclusive` by default
 * @property {boolean} [ifAvailable] whether the request never waits: if the lock is not free, its result is
 *   null in place of a held lock. `false` by default
 * @property {boolean} [steal] whether the lock is stolen from its holders. Each previous holder is notified by
 *   its `signal`, and its later commits are refused. `false` by default
 * @property {AbortSignal} [signal] ends the wait: the request rejects with the signal's reason
 * @property {AbortSignal} [releaseSignal] ends the wait and the hold: the request rejects with the signal's
 *   reason. If the lock is held, `held.signal` aborts with that reason, and the lock is released once pending
 *   commits have ended
 * @property {number} [timeout] the longest wait, in milliseconds, from 0 to 2^31 − 1; the request then
 *   rejects with a `TimeoutError`. With 0 it is granted only if the lock is free. It waits without limit by
 *   default
 * @property {number} [maxHold] the longest time for which the lock may be held, in milliseconds, from 1 to
 *   2^31 − 1. Its holder then loses it, even if it is frozen or hung. All tabs must pass the same value for
 *   the same lock. There is no limit by default
 * @property {'required' | 'preferred'} [fence] whether the lock may be granted without a token. With
 *   `preferred`, a lock that Web Locks grant is held even if the database is full, broken or missing: then
 *   `held.token` is null, `held.commit()` is `unavailable`, and the tab emits a `warning`. `required` by
 *   default: such a request fails. A request that steals needs a fence
 * @property {boolean} [evictUnresponsive] whether the lock is taken from a holder that does not answer: a tab
 *   that is suspended, hangs for five seconds or more, or is gone although the browser still lists it. The
 *   holder is notified by its `signal` once it runs again, and its later commits are refused. A `hung-holder`
 *   warning reports it. `false` by default
 * @property {string} [label] names the request in query() and in a DeadlockError; at most 256 UTF-16 units,
 *   empty by default
 * @property {Held} [within] the held lock under which this one is requested. If it has the same name, it is
 *   entered again. If it has another name, the wait takes part in deadlock detection: of a cycle of such
 *   waits, one request rejects with a DeadlockError
 */

/**
 * The options of tab.once(). All callers of a key should pass the same `durability`.
 *
 * @typedef {object} OnceOptions
 * @property {number} [ttl] a kept value that is not older than this, in milliseconds, is returned without a run;
 *   0 by default. A value is kept for the `ttl` of the call that ran, and for at least an hour, or a minute in
 *   memory
 * @property {'strict' | 'memory'} [durability] with `memory`, outcomes are written to no disk: they are in the
 *   memory of the tabs that got them, and are gone when the last of these is closed, reloaded or left. `strict`
 *   by default: they are kept in IndexedDB
 * @property {AbortSignal} [signal] ends the wait: the call rejects with the signal's reason
 * @property {number} [timeout] the longest wait, in milliseconds; the call then rejects with a `TimeoutError`
 * @property {number} [maxHold] the longest time for which `make` may run, in milliseconds, as for a lock
 */

/** The names of these options. */
const lockOptions = /** @type {const} */ ([
    'mode',
    'ifAvailable',
    'steal',
    'signal',
    'releaseSignal',
    'timeout',
    'maxHold',
    'evictUnresponsive',
    'fence',
    'label',
    'within',
]);

const labelUnitsMax = 256;

/** The longest timer that every engine supports: 2^31−1 ms, 24 days. */
const maxHoldMsMax = 2 ** 31 - 1;

/**
 * The error for options that exclude each other, as Web Locks §3.2.1 has it.
 *
 * @param {string} message
 */
const unsupported = (message) => new DOMException(message, 'NotSupportedError');

/**
 * Checks an optional boolean. Undefined is false.
 *
 * @param {string} argument
 * @param {unknown} value
 */
function checkFlag(argument, value) {
    if (value !== undefined && typeof value !== 'boolean') throw invalid(argument, value, 'true or false');
    return value === true;
}

/** Checks the option `fence`, and returns whether the lock may be granted without a token. @param {unknown} fence */
const checkFence = (fence = 'required') =>
    checkOneOf('fence', fence, ['required', 'preferred']) === 'preferred';

/** Checks the option `label`, and returns it. @param {unknown} label */
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

/** Checks options that were passed. @param {unknown} given */
function checkGiven(given) {
    const options = checkOptions(given, lockOptions);
    const { mode = 'exclusive', maxHold, within } = options;
    if (mode !== 'exclusive' && mode !== 'shared') throw invalid('mode', mode, 'exclusive or shared');
    const ifAvailable = checkFlag('ifAvailable', options.ifAvailable);
    const steal = checkFlag('steal', options.steal);
    const signal = checkSignal(options.signal);
    const releaseSignal = checkSignal(options.releaseSignal, 'releaseSignal');
    const timeout = checkTimeout(options.timeout);
    const good =
        maxHold === undefined || (typeof maxHold === 'number' && maxHold >= 1 && maxHold <= maxHoldMsMax);
    if (!good) throw invalid('maxHold', maxHold, `a number of milliseconds from 1 to ${maxHoldMsMax}`);
    if (within !== undefined && !(within instanceof Held)) throw invalid('within', within, 'a held lock');
    if (steal && ifAvailable) throw unsupported('steal and ifAvailable exclude each other');
    const fenceOptional = checkFence(options.fence);
    if (steal && fenceOptional) throw unsupported('a request that steals needs a fence');
    if (steal && mode !== 'exclusive') throw unsupported('steal is for exclusive locks');
    if (signal && (steal || ifAvailable)) throw unsupported('a signal is for requests that wait');
    return {
        mode: /** @type {'exclusive' | 'shared'} */ (mode),
        ifAvailable,
        steal,
        signal,
        releaseSignal,
        timeout_ms: timeout,
        maxHold_ms: /** @type {number | undefined} */ (maxHold),
        fenceOptional,
        evictUnresponsive: checkFlag('evictUnresponsive', options.evictUnresponsive),
        label: checkLabel(options.label === undefined ? '' : options.label),
        within,
    };
}

/** Most requests are made without options, so that these are checked once. */
const lockDefaults = Object.freeze(checkGiven({}));

/**
 * Checks the options of a lock, and returns them with their defaults.
 *
 * @param {unknown} given
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 * @throws {DOMException} `NotSupportedError` for options that exclude each other
 */
export const checkLockOptions = (given) => (given === undefined ? lockDefaults : checkGiven(given));

/** Checks the options of tab.once(), as checkLockOptions() does. @param {unknown} given */
export function checkOnceOptions(given = {}) {
    const options = checkOptions(given, ['ttl', 'durability', 'signal', 'timeout', 'maxHold']);
    const { ttl = 0, durability = 'strict', ...rest } = options;
    if (typeof ttl !== 'number' || !(ttl >= 0)) throw invalid('ttl', ttl, 'a number of milliseconds from 0');
    const memory = checkOneOf('durability', durability, ['strict', 'memory']) === 'memory';
    return { ttl, memory, ...checkLockOptions(rest) };
}

/** Checks the options of a semaphore, as checkLockOptions() does. @param {unknown} given */
export const checkSemaphoreOptions = (given = {}) =>
    checkLockOptions(
        checkOptions(given, [
            'ifAvailable',
            'signal',
            'releaseSignal',
            'timeout',
            'maxHold',
            'label',
            'within',
        ]),
    );
