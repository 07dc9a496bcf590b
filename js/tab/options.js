/** What the callers of a tab pass, checked before anything is done. */

import { invalid } from '../errors.js';
import { checkWasm } from '../core/module.js';
import { checkInteger, checkName, checkOptions } from '../shared/check.js';

/**
 * The default, which keeps a row per tab, and the ways to count that others have written down.
 * @typedef {'replicated' | 'naive' | 'log' | 'lamport' | 'eventual' | 'transactional' | 'locked'
 *   | 'optimistic' | 'deltas' | 'batched'} Strategy
 */

/**
 * What a commit has reached: `strict`, the disk; `relaxed`, the operating system; `memory`, this
 * context only.
 * @typedef {'memory' | 'relaxed' | 'strict'} Durability
 */

/** The longest time that an option may name: an hour. Who waits longer has another design in mind. */
const hour_ms = 3_600_000;

/**
 * The strategies, each with its own options: times in milliseconds, from the least to the most.
 *
 * @type {Record<Strategy, Record<string, readonly [least: number, most: number]>>}
 */
const strategies = {
    replicated: {},
    naive: {},
    log: { foldAfter: [100, hour_ms] },
    lamport: { delay: [0, 60_000], backOff: [1, 60_000], forceAfter: [100, hour_ms] },
    eventual: {},
    transactional: {},
    locked: {},
    optimistic: { backOff: [0, 60_000] },
    deltas: { threshold: [0, hour_ms] },
    batched: { interval: [1, hour_ms] },
};

/** From the weakest. */
const durabilities = ['memory', 'relaxed', 'strict'];

const builds = ['threads', 'single'];

/**
 * @template {string} Word
 * @param {string} argument
 * @param {unknown} value
 * @param {readonly string[]} allowed
 * @returns {Word}
 */
function checkWord(argument, value, allowed) {
    if (!(/** @type {readonly unknown[]} */ (allowed).includes(value))) {
        throw invalid(argument, value, `one of ${allowed.join(', ')}`);
    }
    return /** @type {Word} */ (value);
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
 * Options as they are when they are passed; what is no object is refused by who looks at it.
 *
 * @template Options
 * @param {Options} options
 * @returns {Options}
 */
export const asPassed = (options) =>
    typeof options === 'object' && options ? Object.assign(Object.create(Object.getPrototypeOf(options)), options) : options;

/** @param {unknown} value */
function checkWindow(value) {
    if (typeof value !== 'object' || value === null) throw invalid('window', value, 'an object like globalThis');
    return /** @type {import('../host/host.js').Platform} */ (value);
}

/**
 * Threads wherever memory can be shared. Node says nothing of isolation, and needs none.
 *
 * @param {import('../host/host.js').Platform} platform
 * @returns {import('../core/tab-core.js').Build}
 */
function bestBuild(platform) {
    if ('ServiceWorkerGlobalScope' in globalThis) return 'single'; // what it needs is imported, or nothing is
    const isolated = platform.crossOriginIsolated ?? globalThis.crossOriginIsolated ?? true;
    return isolated && typeof SharedArrayBuffer === 'function' ? 'threads' : 'single';
}

/** @param {unknown} given */
export function checkOpenOptions(given) {
    // Defaults stand for undefined only: null is a mistake, and may not mix two applications' counters.
    const {
        namespace = 'default',
        build,
        wasm,
        catalogue,
        locks,
        limits,
        queue,
        allowWeaker = false,
        window = globalThis,
    } = checkOptions(given, ['namespace', 'build', 'wasm', 'catalogue', 'locks', 'limits', 'queue', 'allowWeaker', 'window']);
    const platform = checkWindow(window);
    return {
        namespace: checkName(namespace, 'namespace'),
        platform,
        build: /** @type {import('../core/tab-core.js').Build} */ (
            checkWord('build', build === undefined ? bestBuild(platform) : build, builds)
        ),
        wasm: wasm === undefined ? undefined : checkWasm(wasm, 'wasm'),
        catalogue: catalogue === undefined ? undefined : checkWasm(catalogue, 'catalogue'),
        locks: locks === undefined ? undefined : checkWasm(locks, 'locks'),
        limits: limits === undefined ? undefined : checkWasm(limits, 'limits'),
        queue: queue === undefined ? undefined : checkWasm(queue, 'queue'),
        allowWeaker: checkBoolean('allowWeaker', allowWeaker),
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
    const strategy = checkWord('strategy', named, Object.keys(strategies));
    const ranges = strategies[strategy];
    const options = checkOptions(given, ['strategy', 'durability', ...Object.keys(ranges)], 'options', `of ${strategy}`);
    const { durability = 'relaxed' } = options;
    return {
        strategy,
        durability: checkWord('durability', durability, durabilities),
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

/** Their names, the default first. */
export const STRATEGIES = /** @type {readonly Strategy[]} */ (Object.keys(strategies));
