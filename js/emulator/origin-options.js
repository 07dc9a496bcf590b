/** The options of createOrigin(). */

import { checkWasm } from '../core/module.js';
import { checkInteger, checkOneOf, checkOptions } from '../common/check-arguments.js';
import { invalid } from '../common/errors.js';
import { checkFakeIndexedDB } from './database/indexed-db.js';

/**
 * The known differences of browsers from the specification, or from each other.
 *
 * - `no-wake-after-abort`: as in Chromium, a request behind an aborted lock request is not granted until a holder
 *   releases the lock, although Web Locks §4.3 requires it
 * - `equal-writes-dropped`: as in Firefox and WebKit, a write is not sent if the writer's copy has that value already
 */
export const quirks = Object.freeze(/** @type {const} */ (['no-wake-after-abort', 'equal-writes-dropped']));

/**
 * The models of localStorage, which differ in when a tab sees the writes of others. Browsers behave as the first:
 *
 * - `cached`: each process reads a copy, and a write reaches the other processes later
 * - `interleaved` and `mutexed`: every tab sees a write at once
 */
export const storages = Object.freeze(/** @type {const} */ (['cached', 'interleaved', 'mutexed']));

/**
 * @typedef {object} OriginOptions the options of createOrigin(), checked
 * @property {string} url
 * @property {'cached' | 'interleaved' | 'mutexed'} storage
 * @property {number | undefined} seed
 * @property {'virtual' | 'real'} clock
 * @property {number | undefined} quota_bytes
 * @property {'granted' | 'denied'} persistence
 * @property {{ dropsEqualWrites: boolean, wakesAfterAbort: boolean }} quirks
 */

/** HTML §12.2: "a mostly arbitrary limit of five megabytes per origin is suggested". */
const quotaBytesDefault = 5 * 1024 * 1024;

/** The names of createOrigin()'s options. */
export const originOptions = /** @type {const} */ ([
    'url',
    'storage',
    'seed',
    'clock',
    'quota_bytes',
    'persistence',
    'quirks',
    'wasm',
    'fakeIndexedDB',
]);

/**
 * Checks the options of createOrigin(), and returns them with their defaults.
 *
 * @param {unknown} given
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`, `unavailable`
 */
export function checkOrigin(given) {
    const options = checkOptions(given, originOptions);
    const { storage = 'cached', seed, clock = 'virtual', quota_bytes = quotaBytesDefault } = options;
    const { quirks: chosen = [], url = 'https://example.test/', persistence = 'denied' } = options;
    if (!Array.isArray(chosen) || chosen.some((quirk) => !quirks.includes(quirk))) {
        throw invalid('quirks', chosen, `an array of ${quirks.join(', ')}`);
    }
    const checked = {
        url: checkUrl(url),
        storage: /** @type {any} */ (checkOneOf('storage', storage, storages)),
        seed: seed === undefined ? undefined : checkInteger('seed', seed, 0, Number.MAX_SAFE_INTEGER),
        clock: /** @type {any} */ (checkOneOf('clock', clock, ['virtual', 'real'])),
        quota_bytes: checkInteger('quota_bytes', quota_bytes, 0, 2 ** 31 - 1),
        persistence: /** @type {any} */ (checkOneOf('persistence', persistence, ['denied', 'granted'])),
        quirks: {
            dropsEqualWrites: chosen.includes('equal-writes-dropped'),
            wakesAfterAbort: !chosen.includes('no-wake-after-abort'),
        },
    };
    return {
        checked,
        wasm: options.wasm === undefined ? undefined : checkWasm(options.wasm, 'wasm'),
        fakeIndexedDB:
            options.fakeIndexedDB === undefined ? undefined : checkFakeIndexedDB(options.fakeIndexedDB),
    };
}

/** @param {unknown} url */
function checkUrl(url) {
    if ((typeof url === 'string' || url instanceof URL) && URL.canParse(url)) {
        const { href, origin } = new URL(url);
        if (origin !== 'null') return href;
    }
    throw invalid('url', url, 'an absolute URL of an origin that is not opaque');
}
