/**
 * The emulator: an origin with several tabs in one process, behind the platform's own API.
 *
 * @example
 * import { createOrigin } from 'tabacus/emulator';
 * const origin = await createOrigin({ url: 'https://shop.example/', storage: 'cached', seed: 7 });
 * const [a, b] = [origin.openTab(), origin.openTab()];
 * b.window.addEventListener('storage', (event) => console.log(event.key, event.newValue));
 * a.window.localStorage.setItem('basket', '3');
 * await origin.settled();
 */

import { checkWasm } from './core/module.js';
import { loadRules } from './emulator/core.js';
import { loadPeer } from './emulator/indexed-db.js';
import { Origin } from './emulator/origin.js';
import { invalid } from './errors.js';
import { checkInteger, checkOptions } from './shared/check.js';

export { TabacusError } from './errors.js';

/** @typedef {import('./emulator/origin.js').Origin} Origin */
/** @typedef {import('./emulator/tab.js').Tab} Tab */

/**
 * Where browsers are known to differ from the specification, or from each other.
 *
 * - `no-wake-after-abort`: as Chromium, who waits behind an aborted lock request is not looked at until a holder
 *   releases, although Web Locks §4.3 says to
 * - `equal-writes-dropped`: as Firefox and WebKit, a write of what the writer's copy holds already is not sent
 */
export const quirks = Object.freeze(/** @type {const} */ (['no-wake-after-abort', 'equal-writes-dropped']));

/** Who sees localStorage when; the first is what browsers do. */
export const storages = Object.freeze(/** @type {const} */ (['cached', 'interleaved', 'mutexed']));

/**
 * @typedef {object} CreateOriginOptions
 * @property {string | URL} [url] of its tabs, unless said otherwise; `https://example.test/` by default
 * @property {'cached' | 'interleaved' | 'mutexed'} [storage] `cached` unless said otherwise
 * @property {number} [seed] an integer from 0 to 2^53 − 1: who goes next is chance. Without one, whatever was begun
 *   first happens first
 * @property {'virtual' | 'real'} [clock] `virtual` unless said otherwise: time passes when nothing else can happen
 * @property {number} [quota_bytes] how much a storage takes, keys and values together, in UTF-8; 5 MiB unless said
 *   otherwise
 * @property {readonly (typeof quirks[number])[]} [quirks] none unless said otherwise
 * @property {import('./core/module.js').WasmSource} [wasm] where emulator.wasm is, if not beside the package's modules
 * @property {object} [fakeIndexedDB] the module `fake-indexeddb`, where `import('fake-indexeddb')` does not find it
 */

/** HTML §12.2: "a mostly arbitrary limit of five megabytes per origin is suggested". */
const quotaBytesDefault = 5 * 1024 * 1024;

/** @type {Promise<any> | undefined} */
let shared;

/**
 * @param {CreateOriginOptions} [options]
 * @returns {Promise<Origin>} rejects with `invalid-argument`, and `unavailable` without emulator.wasm
 */
export async function createOrigin(options = {}) {
    const { checked, wasm, peer } = checkOrigin(options);
    const [glue, found] = await Promise.all([wasm === undefined ? (shared ??= loadRules(undefined)) : loadRules(wasm), peer ?? loadPeer()]);
    return new Origin(glue, checked, found);
}

/** @param {unknown} given */
function checkOrigin(given) {
    const known = /** @type {const} */ (['url', 'storage', 'seed', 'clock', 'quota_bytes', 'quirks', 'wasm', 'fakeIndexedDB']);
    const options = checkOptions(given, known);
    const { storage = 'cached', seed, clock = 'virtual', quota_bytes = quotaBytesDefault } = options;
    const chosen = options.quirks ?? [];
    if (!Array.isArray(chosen) || chosen.some((quirk) => !quirks.includes(quirk))) {
        throw invalid('quirks', chosen, `an array of ${quirks.join(', ')}`);
    }
    const checked = {
        url: checkUrl(options.url ?? 'https://example.test/'),
        storage: /** @type {any} */ (word('storage', storage, storages)),
        seed: seed === undefined ? undefined : checkInteger('seed', seed, 0, Number.MAX_SAFE_INTEGER),
        clock: /** @type {any} */ (word('clock', clock, ['virtual', 'real'])),
        quota_bytes: checkInteger('quota_bytes', quota_bytes, 0, 2 ** 31 - 1),
        quirks: {
            dropsEqualWrites: chosen.includes('equal-writes-dropped'),
            wakesAfterAbort: !chosen.includes('no-wake-after-abort'),
        },
    };
    return { checked, wasm: options.wasm === undefined ? undefined : checkWasm(options.wasm, 'wasm'), peer: options.fakeIndexedDB };
}

/** @param {unknown} url */
function checkUrl(url) {
    if ((typeof url === 'string' || url instanceof URL) && URL.canParse(url)) return new URL(url).href;
    throw invalid('url', url, 'an absolute URL');
}

/** @param {string} argument @param {unknown} value @param {readonly string[]} allowed */
function word(argument, value, allowed) {
    if (allowed.includes(/** @type {string} */ (value))) return value;
    throw invalid(argument, value, `one of ${allowed.join(', ')}`);
}
