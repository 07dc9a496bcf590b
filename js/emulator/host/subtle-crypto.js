/** `crypto.subtle` of a context: that of the host, whose results are delivered on the schedule. */

import { tracked } from './host-work.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * @param {Context} context
 * @returns {SubtleCrypto | undefined} undefined if the host has none
 */
export function subtleOf(context) {
    const subtle = /** @type {any} */ (globalThis.crypto?.subtle);
    if (!subtle) return undefined;
    const made = Object.create(Object.getPrototypeOf(subtle));
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(subtle))) {
        if (name === 'constructor' || typeof subtle[name] !== 'function') continue;
        const call = (/** @type {any[]} */ ...given) =>
            tracked(context, subtle[name](...given), `crypto.subtle.${name}()`);
        Object.defineProperty(made, name, { value: call, writable: true, configurable: true });
    }
    return made;
}
