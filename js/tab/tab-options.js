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

/** @param {unknown} given */
export function checkOpenOptions(given) {
    // Defaults stand for undefined only: null is a mistake, and may not mix two applications' counters.
    const {
        namespace = 'default',
        wasm,
        coordination,
        allowWeaker,
        window = globalThis,
    } = checkOptions(given, ['namespace', 'wasm', 'coordination', 'allowWeaker', 'window']);
    return {
        namespace: checkName(namespace, 'namespace'),
        platform: checkWindow(window),
        wasm: wasm === undefined ? undefined : checkWasm(wasm, 'wasm'),
        coordination: coordination === undefined ? undefined : checkWasm(coordination, 'coordination'),
        allowWeaker: allowWeaker === undefined ? undefined : checkBoolean('allowWeaker', allowWeaker),
    };
}

/**
 * @typedef {object} CheckedCounterOptions
 * @property {Strategy} strategy
 * @property {Durability} durability
 * @property {boolean} demanded the caller named the durability, so that less is an error
 * @property {string[]} times of the strategy, as far as given: names and milliseconds in turn
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
        times: Object.entries(ranges).flatMap(([name, [least, most]]) =>
            options[name] === undefined ? [] : [name, String(checkInteger(name, options[name], least, most))],
        ),
    };
}

/**
 * @param {string} durability
 * @param {Durability} than
 */
export const isWeaker = (durability, than) => durabilities.indexOf(durability) < durabilities.indexOf(than);
