/** What the callers of a tab pass, checked before anything is done. */

import { invalid } from '../errors.js';
import { checkWasm } from '../core/module.js';
import { checkName, checkOptions } from '../shared/check.js';

/** @typedef {'replicated' | 'naive' | 'locked' | 'transactional'} Strategy */

/**
 * What a commit has reached: `strict`, the disk; `relaxed`, the operating system; `memory`, this
 * context only.
 * @typedef {'memory' | 'relaxed' | 'strict'} Durability
 */

const strategies = ['replicated', 'naive', 'locked', 'transactional'];

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
function checkBoolean(argument, value) {
    if (typeof value !== 'boolean') throw invalid(argument, value, 'true or false');
    return value;
}

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
        allowWeaker = false,
        window = globalThis,
    } = checkOptions(given, ['namespace', 'build', 'wasm', 'allowWeaker', 'window']);
    const platform = checkWindow(window);
    return {
        namespace: checkName(namespace, 'namespace'),
        platform,
        build: /** @type {import('../core/tab-core.js').Build} */ (
            checkWord('build', build === undefined ? bestBuild(platform) : build, builds)
        ),
        wasm: wasm === undefined ? undefined : checkWasm(wasm, 'wasm'),
        allowWeaker: checkBoolean('allowWeaker', allowWeaker),
    };
}

/**
 * @param {unknown} given
 * @returns {{ strategy: Strategy, durability: Durability, demanded: boolean }} `demanded`: the caller
 *   named the durability, so that less is an error
 */
export function checkCounterOptions(given) {
    const options = checkOptions(given, ['strategy', 'durability']);
    const { strategy = 'replicated', durability = 'relaxed' } = options;
    return {
        strategy: checkWord('strategy', strategy, strategies),
        durability: checkWord('durability', durability, durabilities),
        demanded: options.durability !== undefined,
    };
}

/**
 * @param {string} durability
 * @param {Durability} than
 */
export const isWeaker = (durability, than) => durabilities.indexOf(durability) < durabilities.indexOf(than);
