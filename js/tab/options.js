/** What the callers of a tab pass, checked before anything is done. */

import { invalid } from '../errors.js';
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

/** @param {unknown} value */
function checkWasm(value) {
    const good =
        typeof value === 'string' ||
        value instanceof URL ||
        value instanceof ArrayBuffer ||
        ArrayBuffer.isView(value) ||
        value instanceof WebAssembly.Module;
    if (!good) throw invalid('wasm', value, 'an address, bytes or a WebAssembly.Module');
    return /** @type {import('../core/tab-core.js').WasmSource} */ (value);
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
    const options = checkOptions(given, ['namespace', 'build', 'wasm', 'allowWeaker', 'window']);
    const platform = checkWindow(options.window ?? globalThis);
    return {
        namespace: checkName(options.namespace ?? 'default', 'namespace'),
        platform,
        build: /** @type {import('../core/tab-core.js').Build} */ (
            checkWord('build', options.build ?? bestBuild(platform), builds)
        ),
        wasm: options.wasm === undefined ? undefined : checkWasm(options.wasm),
        allowWeaker: checkBoolean('allowWeaker', options.allowWeaker ?? false),
    };
}

/**
 * @param {unknown} given
 * @returns {{ strategy: Strategy, durability: Durability, demanded: boolean }} `demanded`: the caller
 *   named the durability, so that less is an error
 */
export function checkCounterOptions(given) {
    const { strategy = 'replicated', durability } = checkOptions(given, ['strategy', 'durability']);
    return {
        strategy: checkWord('strategy', strategy, strategies),
        durability: checkWord('durability', durability ?? 'relaxed', durabilities),
        demanded: durability !== undefined,
    };
}

/**
 * @param {string} durability
 * @param {Durability} than
 */
export const isWeaker = (durability, than) => durabilities.indexOf(durability) < durabilities.indexOf(than);

export { strategies as STRATEGIES };
