/** What the callers of a tab pass, checked before anything is done. */

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
 * What a commit has reached: `strict`, the disk; `relaxed`, the operating system; `memory`, this
 * context only.
 * @typedef {'memory' | 'relaxed' | 'strict'} Durability
 */

/** From the weakest. */
const durabilities = ['memory', 'relaxed', 'strict'];

/** @param {unknown} value */
function checkWindow(value) {
    if (typeof value !== 'object' || value === null)
        throw invalid('window', value, 'an object like globalThis');
    return /** @type {import('../host/host.js').Platform} */ (value);
}

/**
 * What is loaded by its first use, or ahead of it by `preload`.
 * @typedef {typeof features[number]} Feature
 */
const features = /** @type {const} */ (['locks', 'leader', 'queue', 'limits', 'catalogue']);

/** Options that version 0.1.0 had, which stand for those of `wasm`. */
const deprecatedPieces = ['locks', 'queue', 'limits', 'catalogue'];

/** @type {import('../core/program.js').PieceName[]} */
const pieceNames = ['counters', 'storage', 'lease', ...features];

/**
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
 * @param {Record<string, unknown>} given
 * @param {string} prefix of the arguments' names
 * @returns {Partial<Record<import('../core/program.js').PieceName, import('../core/module.js').WasmSource>>}
 */
const sourcesOf = (given, prefix) =>
    Object.fromEntries(
        Object.entries(given)
            .filter(([, source]) => source !== undefined)
            .map(([piece, source]) => [piece, checkWasm(source, `${prefix}${piece}`)]),
    );

/** @param {unknown} value @returns {Feature[]} */
function checkPreload(value) {
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw invalid('preload', value, `an array of ${features.join(', ')}`);
    return value.map((feature) => /** @type {Feature} */ (checkOneOf('preload', feature, features)));
}

/** @param {unknown} given */
export function checkOpenOptions(given) {
    // Defaults stand for undefined only: null is a mistake, and may not mix two applications' counters.
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
 * @property {boolean} demanded the caller named the durability, so that less is an error
 * @property {import('../core/generated/coordination.js').StrategyTimes} times of the strategy, as far as given
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
 * @param {string} durability
 * @param {Durability} than
 */
export const isWeaker = (durability, than) => durabilities.indexOf(durability) < durabilities.indexOf(than);
