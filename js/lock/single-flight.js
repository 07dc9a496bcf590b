/** Single flights over tabs: of the callers with one key, one runs its function, and all get the outcome. */

import { checkFunction, checkName } from '../common/check-arguments.js';
import { onceEnter, onceSettle } from '../core/generated/locks.js';
import { checkOnceOptions } from './lock-options.js';
import { within } from '../common/wait-end.js';
import { coreName } from './names.js';
import { cloneError, unwrapOutcome } from './outcome.js';
import { cloned } from './store-arguments.js';

/** @typedef {import('./tab-locks.js').TabLocks} TabLocks */

/**
 * Implements tab.once().
 *
 * @template T
 * @param {TabLocks} locks
 * @param {string} key
 * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make
 * @param {unknown} given the options
 * @param {number} called_ms when the application called, which may be before this module was loaded. The
 *   outcome of a run that has finished since then is returned
 * @returns {Promise<T>}
 */
export async function runOnce(locks, key, make, given, called_ms) {
    checkName(key, 'key');
    checkFunction('make', make);
    const { signal, ttl, ...options } = checkOnceOptions(given);
    const { _access, _bridge: bridge } = locks;
    _access._assertAsked();
    _access._assertStore('outcomes');
    const age = { ttl_ms: ttl, called_ms };
    const entered = locks._name(key);
    const { timeout_ms: timeout } = options;
    const { outcome: other, held: number } = await locks._wait(
        { signals: [signal], timeout, unwanted: (entry) => giveBack(locks, entry) },
        (request) => onceEnter(bridge, entered, options, age, request),
        (entry) => entry,
    );
    if (other) return unwrapOutcome(other.succeeded, bridge.host.values.take(other.text));
    const held = locks._hold(number, key, {
        mode: 'exclusive',
        label: '',
        limited: options.maxHold_ms !== undefined,
    });
    locks._assertKept([held]);
    /** @type {{ succeeded: boolean, result: any }} */
    let outcome;
    try {
        const run = { signal: held.signal, token: /** @type {number} */ (held.token) };
        const value = await locks._unlessLost([held], make(run));
        if (value !== undefined) cloned('value', value);
        outcome = { succeeded: true, result: { value } };
    } catch (error) {
        if (!held.held) {
            held.release();
            throw error;
        }
        outcome = { succeeded: false, result: cloneError(error) };
        await settle(locks, key, held, outcome, { ttl, signal, timeout });
        throw error;
    }
    await settle(locks, key, held, outcome, { ttl, signal, timeout });
    return outcome.result.value;
}

/**
 * Gives back what once() gets after its wait has ended.
 *
 * @param {TabLocks} locks
 * @param {import('../core/generated/locks.js').OnceEntry} entry
 */
function giveBack(locks, { outcome, held }) {
    if (outcome) locks._bridge.host.values.take(outcome.text);
    else locks._giveBack([held]);
}

/**
 * Stores the outcome of a run of once(), and releases its lock. The options `signal` and `timeout` end the wait for
 * the store, but a signal that has aborted before does not.
 *
 * @param {TabLocks} locks
 * @param {string} key
 * @param {import('./held.js').Held} held
 * @param {{ succeeded: boolean, result: object }} outcome
 * @param {object} options
 * @param {number} options.ttl how long the outcome is kept at least, in milliseconds
 * @param {AbortSignal | undefined} options.signal
 * @param {number | undefined} options.timeout
 */
async function settle(locks, key, held, { succeeded, result }, { ttl, signal, timeout }) {
    locks._forget(held._id);
    const { _bridge: bridge } = locks;
    const { values } = bridge.host;
    const text = values.keep(result);
    const ends = { signal: signal?.aborted ? undefined : signal, timeout };
    await within(locks._clock, ends, () =>
        onceSettle(bridge, coreName(key), held._id, { succeeded, text }, ttl).finally(() =>
            values.take(text),
        ),
    );
}
