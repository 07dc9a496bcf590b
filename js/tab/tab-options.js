/** Checks of the options of open() and of tab.counter(), which are made before anything else is done. */

import { invalid } from '../common/errors.js';
import { STRATEGIES, strategyOptions } from '../common/strategies.js';
import { checkWasm } from '../core/module.js';
import { checkTimeouts } from '../common/timeouts.js';
import {
    checkBoolean,
    checkInteger,
    checkName,
    checkOneOf,
    checkOptions,
} from '../common/check-arguments.js';

/** @typedef {import('../common/strategies.js').Strategy} Strategy */

/**
 * How far a commit has got: `strict` to the disk, `relaxed` to the operating system, `memory` to the memory
 * of this context only.
 * @typedef {'memory' | 'relaxed' | 'strict'} Durability
 */

/** The durabilities, the weakest first. */
const durabilities = ['memory', 'relaxed', 'strict'];

/** Checks the option `window`. @param {unknown} value */
function checkWindow(value) {
    if (typeof value !== 'object' || value === null)
        throw invalid('window', value, 'an object like globalThis');
    return /** @type {import('../host/host.js').Platform} */ (value);
}

/**
 * A part of the package that is loaded by its first use, or ahead of that by the option `preload`.
 * @typedef {typeof features[number]} Feature
 */
const features = /** @type {const} */ (['locks', 'leader', 'queue', 'limits', 'catalogue']);

/** Options of version 0.1.0. Each stands for the property of `wasm` that has its name. */
const deprecatedPieces = ['locks', 'queue', 'limits', 'catalogue'];

/** @type {import('../core/program.js').PieceName[]} */
const pieceNames = ['counters', 'gather', 'storage', 'transfer', 'lease', ...features];

/**
 * Checks the option `wasm`.
 *
 * @param {unknown} value
 * @returns {Partial<Record<import('../core/program.js').PieceName, import('../core/module.js').WasmSource>>}
 */
function checkPieces(value) {
    if (value === undefined) return {};
    if (Object(value) !== value || Object.getPrototypeOf(value) !== Object.prototype)
        return { counters: checkWasm(value, 'wasm') };
    return sourcesOf(checkOptions(value, pieceNames, 'wasm'), 'wasm.');
}

/**
 * Checks the sources of pieces that are given.
 *
 * @param {Record<string, unknown>} given
 * @param {string} prefix of the arguments' names in error messages
 * @returns {Partial<Record<import('../core/program.js').PieceName, import('../core/module.js').WasmSource>>}
 */
const sourcesOf = (given, prefix) =>
    Object.fromEntries(
        Object.entries(given)
            .filter(([, source]) => source !== undefined)
            .map(([piece, source]) => [piece, checkWasm(source, `${prefix}${piece}`)]),
    );

/** Checks the option `preload`. @param {unknown} value @returns {Feature[]} */
function checkPreload(value) {
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw invalid('preload', value, `an array of ${features.join(', ')}`);
    return value.map((feature) => /** @type {Feature} */ (checkOneOf('preload', feature, features)));
}

/** Checks the options of open(), and returns them with their defaults. @param {unknown} given */
export function checkOpenOptions(given) {
    // A default replaces undefined only. A namespace of null is refused: with the default instead, an
    // application that passes null by mistake would count in another application's counters.
    const {
        namespace = 'default',
        wasm,
        preload,
        allowWeaker,
        timeouts,
        persist = false,
        window = globalThis,
        ...deprecated
    } = checkOptions(given, [
        'namespace',
        'wasm',
        'preload',
        'allowWeaker',
        'timeouts',
        'persist',
        'window',
        ...deprecatedPieces,
    ]);
    return {
        namespace: checkName(namespace, 'namespace'),
        platform: checkWindow(window),
        wasm: { ...sourcesOf(deprecated, ''), ...checkPieces(wasm) },
        preload: checkPreload(preload),
        allowWeaker: allowWeaker === undefined ? undefined : checkBoolean('allowWeaker', allowWeaker),
        timeouts: checkTimeouts(timeouts),
        persist: checkBoolean('persist', persist),
    };
}

/**
 * The options of tab.counter().
 *
 * @typedef {object} CounterOptions
 * @property {Strategy} [strategy] `replicated` by default
 * @property {Durability} [durability] `relaxed` by default. If the durability is
 *   given and this context only has a weaker one, tab.counter() throws `weaker-guarantee`, unless the tab was
 *   opened with `allowWeaker`
 * @property {number} [delay] of `lamport`: how long a tab that has met a competitor waits before it checks
 *   whether it has the lock. In milliseconds, as are all options below: an integer from 0 to 60 000; 50 by
 *   default
 * @property {number} [backOff] of `lamport`: how long a tab waits while another tab holds the lock; an
 *   integer from 1 to 60 000, 50 by default. Of `optimistic`: the longest random time for which a tab waits
 *   after a conflict; an integer from 0 to 60 000, 10 by default
 * @property {number} [forceAfter] of `lamport`: the age from which a lock is taken from its owner; an integer
 *   from 100 to 3 600 000, 5 000 by default
 * @property {number} [foldAfter] of `log`: how long after an increment a tab folds the entries of tabs that
 *   have exited; without Web Locks also how old these entries must be. An integer from 100 to 3 600 000;
 *   10 000 by default
 * @property {number} [threshold] of `deltas`: the age from which a stored sum is computed again; an integer
 *   from 0 (at every read) to 3 600 000, 1 000 by default
 * @property {number} [interval] of `batched`: how long increments are gathered before they are written, and
 *   so the time whose increments a tab that dies may lose; an integer from 1 to 3 600 000, 1 000 by default
 */

/**
 * @typedef {object} CheckedCounterOptions
 * @property {Strategy} strategy
 * @property {Durability} durability
 * @property {boolean} demanded whether the caller named the durability, so that a weaker one is an error
 * @property {import('../core/generated/coordination.js').StrategyTimes} times the options of the strategy
 *   that are given
 */

/**
 * @param {unknown} given
 * @returns {CheckedCounterOptions}
 */
export function checkCounterOptions(given) {
    if (typeof given !== 'object' || given === null) throw invalid('options', given, 'an object');
    const { strategy: named = 'replicated' } = /** @type {{ strategy?: unknown }} */ (given);
    /** @type {Strategy} */
    const strategy = checkOneOf('strategy', named, STRATEGIES);
    const ranges = strategyOptions[strategy];
    const options = checkOptions(
        given,
        ['strategy', 'durability', ...Object.keys(ranges)],
        'options',
        `of ${strategy}`,
    );
    const { durability = 'relaxed' } = options;
    return {
        strategy,
        durability: checkOneOf('durability', durability, durabilities),
        demanded: options.durability !== undefined,
        times: Object.fromEntries(
            Object.entries(ranges).flatMap(([name, [least, most]]) =>
                options[name] === undefined ? [] : [[name, checkInteger(name, options[name], least, most)]],
            ),
        ),
    };
}

/**
 * Whether one durability is weaker than another.
 *
 * @param {string} durability
 * @param {Durability} than
 */
export const isWeaker = (durability, than) => durabilities.indexOf(durability) < durabilities.indexOf(than);
