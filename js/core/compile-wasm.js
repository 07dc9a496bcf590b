/** WebAssembly from an address or from bytes: compiled and started, or an error that says what to do. */

import { TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { version } from '../common/version.js';
import { readFileAt } from './read-file.web.js';

/**
 * A program that is loaded, for messages.
 *
 * @typedef {object} Origin
 * @property {string} what the name of the file, or of the option
 * @property {string} [address]
 * @property {string} [argument] the option by which the caller passed it
 * @property {unknown} [value] what was passed
 */

/** What is asked of the platform. @typedef {Pick<typeof globalThis, 'WebAssembly' | 'fetch'> & { navigator?: { onLine?: boolean } }} LoadPlatform */

/**
 * @param {Origin} origin
 * @param {string} why it failed, and what to do
 * @param {unknown} [cause]
 */
function unavailable({ what, address }, why, cause) {
    const from = address === undefined ? '' : ` from ${address}`;
    return new TabacusError('unavailable', `${what} could not be loaded${from}: ${why}`, { cause });
}

/**
 * The error of a file that is not the one that is needed: the fault of the caller where the caller passed it.
 *
 * @param {Origin} origin
 * @param {string} why
 * @param {unknown} [cause]
 */
function wrong(origin, why, cause) {
    const { address, argument, value } = origin;
    if (!argument) return unavailable(origin, why, cause);
    const allowed = 'the address, the bytes or the module of its wasm';
    const text = `${argument} must be ${allowed}; ${address === undefined ? '' : `${address}: `}${why}`;
    return new TabacusError('invalid-argument', text, { argument, value, allowed, cause });
}

/**
 * Compiles a WebAssembly file. Streams it where the platform can; where it cannot, and where that fails, the bytes
 * are fetched first.
 *
 * @param {URL | string} address
 * @param {string} what the file's name
 * @param {{ platform?: LoadPlatform, argument?: string }} [options] `argument`: the option by which the caller passed
 *   the address
 * @returns {Promise<WebAssembly.Module>} rejects with `unavailable`; `out-of-memory`; `invalid-argument` if the
 *   caller passed the address, and no such file is there
 */
export async function compileWasm(address, what, { platform = globalThis, argument } = {}) {
    requirePlatform(what, ['WebAssembly'], platform);
    const origin = { what, address: String(address), argument, value: address };
    const bytes = await localBytes(origin);
    if (bytes) return compileBytes(bytes, origin, platform);
    const response = await fetched(origin, platform);
    const streams = /^application\/wasm\b/.test(typeOf(response)) && platform.WebAssembly.compileStreaming;
    if (!streams) return compileBytes(await bytesOf(response, origin), origin, platform);
    try {
        return await platform.WebAssembly.compileStreaming(response);
    } catch (cause) {
        const refused = refusal(origin, cause);
        if (refused) throw refused;
        // No Response of the platform's own, or a connection that broke: the bytes are fetched anew.
        return compileBytes(await bytesOf(await fetched(origin, platform), origin), origin, platform);
    }
}

/** @param {Origin} origin @returns {Promise<BufferSource | undefined>} the bytes of a file on this disk */
async function localBytes(origin) {
    try {
        return await readFileAt(String(origin.address));
    } catch (cause) {
        throw wrong(origin, 'the file cannot be read; copy it there', cause);
    }
}

/**
 * @param {Origin} origin
 * @param {LoadPlatform} platform
 * @returns {Promise<Response>} whose status is good
 */
async function fetched(origin, platform) {
    requirePlatform(origin.what, ['fetch'], platform);
    let response;
    try {
        response = await platform.fetch(String(origin.address));
    } catch (cause) {
        throw unavailable(
            origin,
            platform.navigator?.onLine === false
                ? 'this device is offline; call again when it is back'
                : "no answer: the network failed, or connect-src of the page's Content-Security-Policy, CORS or an " +
                      'extension forbids it; call again, or allow the address',
            cause,
        );
    }
    if (typeof response?.arrayBuffer !== 'function')
        throw unavailable(origin, 'fetch() of this page, which a script has replaced, gave no Response');
    const { ok = true, status } = response;
    if (ok) return response;
    if (status === 404 || status === 410) {
        const cure = "copy it beside the package's modules; after a new deployment, reload the page";
        throw wrong(origin, `the server answered ${status}; ${cure}`);
    }
    throw unavailable(origin, `the server answered ${status}; call again later`);
}

/** @param {Response} response */
const typeOf = (response) => String(response.headers?.get?.('content-type') ?? '').toLowerCase();

/**
 * @param {Response} response
 * @param {Origin} origin
 */
async function bytesOf(response, origin) {
    let bytes;
    try {
        bytes = new Uint8Array(await response.arrayBuffer());
    } catch (cause) {
        throw unavailable(origin, 'the connection broke; call again', cause);
    }
    if (/html/.test(typeOf(response)) || bytes[0] === '<'.charCodeAt(0)) {
        const cure = 'probably a new deployment removed the file: reload the page';
        throw wrong(origin, `the server answered with a page of HTML; ${cure}, or let the server send wasm`);
    }
    return bytes;
}

/**
 * Compiles bytes.
 *
 * @param {BufferSource} bytes
 * @param {Origin} origin
 * @param {LoadPlatform} [platform]
 * @returns {Promise<WebAssembly.Module>} rejects as {@link compileWasm}
 */
export async function compileBytes(bytes, origin, platform = globalThis) {
    requirePlatform(origin.what, ['WebAssembly'], platform);
    try {
        return await platform.WebAssembly.compile(bytes);
    } catch (cause) {
        const size = `${bytes.byteLength} bytes`;
        const why = `these ${size} are no WebAssembly, or not all of it; deploy the file again, as it is`;
        throw refusal(origin, cause) ?? wrong(origin, why, cause);
    }
}

/**
 * The error of an engine that refuses a good file.
 *
 * @param {Origin} origin
 * @param {unknown} cause
 * @returns {TabacusError | undefined} nothing if the file is at fault
 */
function refusal(origin, cause) {
    const text = String(cause);
    if (/content.security.policy|\bcsp\b/i.test(text)) {
        const cure = "add 'wasm-unsafe-eval' to its script-src";
        return unavailable(origin, `the page's Content-Security-Policy forbids WebAssembly; ${cure}`, cause);
    }
    if (cause instanceof RangeError || /memory/i.test(text)) {
        const cure = 'close() tabs that are not needed, here or in other windows';
        return new TabacusError('out-of-memory', `no memory for ${origin.what} beside what runs; ${cure}`, {
            cause,
        });
    }
    return undefined;
}

/**
 * The error of a module that compiled and does not start.
 *
 * @param {Origin} origin
 * @param {unknown} cause
 * @returns {TabacusError}
 */
export function startFailure(origin, cause) {
    if (cause instanceof TabacusError) return cause;
    const cure = 'deploy all files of one version together, and reload the page';
    return refusal(origin, cause) ?? wrong(origin, `it is not of tabacus ${version}; ${cure}`, cause);
}
