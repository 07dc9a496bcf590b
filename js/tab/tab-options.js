/** Checks of the options of open() and of tab.counter(), which are made before anything else is done. */

import { invalid } from '../common/errors.js';
import { STRATEGIES, strategyOptions } from '../common/strategies.js';
import { checkWasm } from '../core/module.js';
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
const pieceNames = ['counters', 'storage', 'lease', ...features];

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
        window = globalThis,
        ...deprecated
    } = checkOptions(given, ['namespace', 'wasm', 'preload', 'allowWeaker', 'window', ...deprecatedPieces]);
    return {
        namespace: checkName(namespace, 'namespace'),
        platform: checkWindow(window),
        wasm: { ...sourcesOf(deprecated, ''), ...checkPieces(wasm) },
        preload: checkPreload(preload),
        allowWeaker: allowWeaker === undefined ? undefined : checkBoolean('allowWeaker', allowWeaker),
    };
}

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
