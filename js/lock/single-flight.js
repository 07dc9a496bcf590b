/** Single flights over tabs: of the callers with one key, one runs its function, and all get the outcome. */

import { checkFunction, checkName } from '../common/check-arguments.js';
import { onceEnter, onceForget, onceSettle } from '../core/generated/locks.js';
import { checkOnceOptions } from './lock-options.js';
import { within } from '../common/wait-end.js';
import { coreName } from './names.js';
import { cloneError, unwrapOutcome } from './outcome.js';
import { platformError } from './platform-error.js';
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
    const { signal, ttl, memory, ...options } = checkOnceOptions(given);
    const { _access, _bridge: bridge } = locks;
    _access._assertAsked();
    _access._assertStore('outcomes');
    const age = { ttl_ms: ttl, called_ms, memory };
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
        const { held: kept } = held;
        outcome = { succeeded: false, result: cloneError(error) };
        await settle(locks, key, held, outcome, { age, signal, timeout }).catch((failure) => {
            if (kept || isAbort(failure)) throw failure;
        });
        throw error;
    }
    await settle(locks, key, held, outcome, { age, signal, timeout });
    return outcome.result.value;
}

/**
 * Implements tab.forget().
 *
 * @param {TabLocks} locks
 * @param {string} key
 * @param {unknown} options
 */
export async function forgetOnce(locks, key, options) {
    checkName(key, 'key');
    const { _access, _bridge: bridge } = locks;
    _access._assertAsked();
    _access._assertStore('outcomes');
    const forget = () =>
        locks._wait(
            { signals: [], timeout: undefined },
            () => onceForget(bridge, locks._name(key)),
            () => {},
        );
    await within(locks._clock, options, forget);
}

/** Whether an error reports that the key was forgotten. @param {unknown} error */
const isAbort = (error) => error instanceof DOMException && error.name === 'AbortError';

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
 * Keeps the outcome of a run of once(), and releases its lock. If the lock was lost, keeps nothing, and rejects. The
 * options `signal` and `timeout` end the wait for the store, but a signal that has aborted before does not.
 *
 * @param {TabLocks} locks
 * @param {string} key
 * @param {import('./held.js').Held} held
 * @param {{ succeeded: boolean, result: object }} outcome
 * @param {object} options
 * @param {{ ttl_ms: number, called_ms: number, memory: boolean }} options.age where and how long it is kept
 * @param {AbortSignal | undefined} options.signal
 * @param {number | undefined} options.timeout
 */
async function settle(locks, key, held, { succeeded, result }, { age, signal, timeout }) {
    if (locks._access._ended) {
        held.release();
        throw locks._access._ended;
    }
    locks._forget(held._id);
    const { _bridge: bridge } = locks;
    const { values } = bridge.host;
    const text = values.keep(result);
    const ends = { signal: signal?.aborted ? undefined : signal, timeout };
    const stored = async () => {
        try {
            await onceSettle(bridge, coreName(key), held._id, { succeeded, text }, age);
        } catch (error) {
            throw platformError(/** @type {any} */ (error), []);
        } finally {
            values.take(text);
        }
    };
    await within(locks._clock, ends, stored);
}
