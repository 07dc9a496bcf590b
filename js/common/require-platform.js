import { TabacusError } from './errors.js';

/**
 * Checks that the platform has what a call needs.
 *
 * @param {string} what the call, for the message
 * @param {readonly string[]} names the globals that the call needs
 * @param {object} [scope]
 * @throws {TabacusError} `unavailable`, which names the first one that is missing
 */
export function requirePlatform(what, names, scope = globalThis) {
    const missing = names.find((name) => /** @type {any} */ (scope)[name] == null);
    if (missing) throw new TabacusError('unavailable', `${what} needs ${missing}, and there is none here`);
}
