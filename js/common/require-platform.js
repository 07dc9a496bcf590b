import { TabacusError } from './errors.js';

/**
 * Checks that the platform has what a call needs.
 *
 * @param {string} what that needs it, for the message
 * @param {readonly string[]} names of globals
 * @param {object} [scope]
 * @throws {TabacusError} `unavailable`, which names the first one that is missing
 */
export function requirePlatform(what, names, scope = globalThis) {
    const missing = names.find((name) => /** @type {any} */ (scope)[name] == null);
    if (missing) throw new TabacusError('unavailable', `${what} needs ${missing}, and there is none here`);
}
