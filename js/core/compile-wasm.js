/** Fetches and compiles WebAssembly. Each failure becomes an error that names what to do. */

import { withinArrival } from '../common/arrival.js';
import { TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { version } from '../common/version.js';
import { fetchFile } from './fetch-file.web.js';

/**
 * Where a program comes from, for messages.
 *
 * @typedef {object} Origin
 * @property {string} what the name of the file, or of the option
 * @property {string} [address]
 * @property {string} [argument] the option by which the caller passed it
 * @property {unknown} [value] what was passed
 */

/** The values that a caller may pass as wasm, for messages. */
export const wasmSources = 'an address, bytes or a WebAssembly.Module';

/** The parts of the platform that loading needs. @typedef {Pick<typeof globalThis, 'WebAssembly' | 'fetch' | 'setTimeout' | 'clearTimeout'> & { navigator?: { onLine?: boolean } }} LoadPlatform */

/**
 * Makes the error of a program that cannot be loaded.
 *
 * @param {Origin} origin
 * @param {string} why why it failed, and what to do
 * @param {unknown} [cause]
 */
function unavailable({ what, address }, why, cause) {
    const from = address ? ` from ${address}` : '';
    return new TabacusError('unavailable', `${what} could not be loaded${from}: ${why}`, { cause });
}

/**
 * Makes the error of a file that is not the one that is needed: `invalid-argument` if the caller passed it,
 * `unavailable` otherwise.
 *
 * @param {Origin} origin
 * @param {string} why
 * @param {unknown} [cause]
 */
function wrong(origin, why, cause) {
    const { address, argument, value } = origin;
    const text = `${why}; after a new deployment, reload the page; else deploy all files of the package`;
    if (!argument) return unavailable(origin, text, cause);
    const allowed = wasmSources;
    const message = `${argument} must be ${allowed}; ${address ?? 'what was passed'}: ${text}`;
    return new TabacusError('invalid-argument', message, { argument, value, allowed, cause });
}

/**
 * Fetches and compiles a WebAssembly file. The fetch begins before this returns. The file is compiled while it arrives, if
 * the platform can do so. If the platform cannot, or if that fails, all bytes are fetched first.
 *
 * @param {URL | string} address
 * @param {string} what the file's name
 * @param {{ platform?: LoadPlatform, argument?: string }} [options] `argument`: the option by which the caller passed
 *   the address
 * @returns {Promise<WebAssembly.Module>} rejects with `unavailable`, at the latest after 60 s, with
 *   `out-of-memory`, or with `invalid-argument` if the caller passed the address and the file is not there or is no
 *   WebAssembly
 */
export async function compileWasm(address, what, { platform = globalThis, argument } = {}) {
    requirePlatform(what, ['WebAssembly'], platform);
    const origin = { what, address: String(address), argument, value: address };
    const late = (/** @type {string} */ why) => unavailable(origin, `${why}; call again`);
    return withinArrival(origin.address, fetchAndCompile(origin, platform), late, platform);
}

/**
 * Does what compileWasm() does, but without a bound of time.
 *
 * @param {Origin} origin
 * @param {LoadPlatform} platform
 */
async function fetchAndCompile(origin, platform) {
    let response = await fetched(origin, platform);
    if (/^application\/wasm/.test(typeOf(response)) && platform.WebAssembly.compileStreaming) {
        try {
            return await platform.WebAssembly.compileStreaming(response);
        } catch (cause) {
            const refused = refusal(origin, cause);
            if (refused) throw refused;
            // The Response is not the platform's own, or the connection broke.
            response = await fetched(origin, platform);
        }
    }
    const bytes = await response.arrayBuffer().catch(unanswered(origin, platform));
    if (/html/.test(typeOf(response))) throw wrong(origin, 'the answer was a page of HTML');
    return compileBytes(bytes, origin, platform);
}

/** Returns the content type of a response. @param {Response} response */
const typeOf = (response) => String(response.headers?.get('content-type'));

/**
 * Returns a function that throws the error of a fetch that got no answer.
 *
 * @param {Origin} origin
 * @param {LoadPlatform} platform
 * @returns {(cause: unknown) => never}
 */
const unanswered = (origin, platform) => (cause) => {
    if (cause instanceof TabacusError) throw cause;
    const why =
        platform.navigator?.onLine === false
            ? 'this device is offline; call again later'
            : 'no answer; if connect-src (Content-Security-Policy), CORS or an extension forbids the address, allow it; ' +
              'else call again';
    throw unavailable(origin, why, cause);
};

/**
 * Fetches a file.
 *
 * @param {Origin} origin
 * @param {LoadPlatform} platform
 * @returns {Promise<Response>} a response with a status from 200 to 299. Rejects with `unavailable`, or with
 *   `invalid-argument` if the caller passed the address and there is no such file
 */
async function fetched(origin, platform) {
    const { what, address } = origin;
    const response = await fetchFile(platform, String(address), what).catch(unanswered(origin, platform));
    if (typeof response?.arrayBuffer !== 'function')
        throw unavailable(origin, 'a script has replaced fetch(), and it gave no Response');
    const { ok = true, status } = response;
    if (ok) return response;
    const why = `the answer was ${status}`;
    throw status === 404 || status === 410
        ? wrong(origin, why)
        : unavailable(origin, `${why}; call again later`);
}

/**
 * Compiles bytes.
 *
 * @param {BufferSource} bytes
 * @param {Origin} origin
 * @param {LoadPlatform} [platform]
 * @returns {Promise<WebAssembly.Module>} rejects as {@link compileWasm} does
 */
export async function compileBytes(bytes, origin, platform = globalThis) {
    try {
        return await platform.WebAssembly.compile(bytes);
    } catch (cause) {
        const why = `these ${bytes.byteLength} bytes are no complete WebAssembly`;
        throw refusal(origin, cause) ?? wrong(origin, why, cause);
    }
}

/**
 * Makes the error of an engine that refuses a good file.
 *
 * @param {Origin} origin
 * @param {unknown} cause
 * @returns {TabacusError | undefined} undefined if the file itself is the cause
 */
function refusal(origin, cause) {
    const text = String(cause);
    if (/content.security.policy|\bcsp\b/i.test(text)) {
        const why =
            "the page's Content-Security-Policy forbids WebAssembly; add 'wasm-unsafe-eval' to script-src";
        return unavailable(origin, why, cause);
    }
    if (cause instanceof RangeError || /out of memory/i.test(text)) {
        const { what } = origin;
        return new TabacusError(
            'out-of-memory',
            `no memory for ${what} beside what runs; close() tabs that are not needed`,
            { cause },
        );
    }
    return undefined;
}

/**
 * Makes the error of a module that was compiled but does not start.
 *
 * @param {Origin} origin
 * @param {unknown} cause
 * @returns {TabacusError}
 */
export const startFailure = (origin, cause) =>
    cause instanceof TabacusError
        ? cause
        : (refusal(origin, cause) ?? wrong(origin, `this is not of tabacus ${version}`, cause));
