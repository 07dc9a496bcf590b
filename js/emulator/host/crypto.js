/** `crypto` of a context. The results of `crypto.subtle` are delivered on the schedule. */

import { QuotaExceededError } from '../../platform/events.js';
import { idlInterface, internal, onlyInternal, requireArguments } from '../../platform/web-idl.js';
import { tracked } from './host-work.js';

/** @typedef {import('../context.js').Context} Context */

/** The largest number of bytes that one call may request (Web Cryptography §10.1.1). */
const randomBytesMax = 65_536;

/**
 * Makes the interface Crypto (Web Cryptography §10.1), and the object `crypto`.
 *
 * @param {Context} context
 * @param {boolean} secure
 * @returns {any}
 */
export function cryptoOf(context, secure) {
    const { random, origin } = context;
    class Crypto {
        /** @type {any} */
        #subtle;

        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
        }

        get subtle() {
            return (this.#subtle ??= subtleOf(context));
        }

        /** @param {any} array */
        getRandomValues(array) {
            void this.#subtle; // throws if `this` is no Crypto
            requireArguments("execute 'getRandomValues' on 'Crypto'", arguments, 1);
            if (!ArrayBuffer.isView(array)) throw new TypeError('getRandomValues: not a view of a buffer');
            if (!/^(Big)?(Ui|I)nt/.test(/** @type {any} */ (array)[Symbol.toStringTag]))
                throw new DOMException('getRandomValues: not an array of integers', 'TypeMismatchError');
            if (array.byteLength > randomBytesMax)
                throw new QuotaExceededError(`getRandomValues: more than ${randomBytesMax} bytes`);
            const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
            origin.drawsRandom = true;
            for (let i = 0; i < bytes.length; ++i) bytes[i] = random.below(256);
            return array;
        }

        randomUUID() {
            void this.#subtle; // throws if `this` is no Crypto
            origin.drawsRandom = true;
            return random.uuid();
        }
    }
    const { prototype } = /** @type {any} */ (Crypto);
    if (!secure) delete prototype.randomUUID;
    if (!secure || !globalThis.crypto?.subtle) delete prototype.subtle;
    return new (idlInterface(Crypto, 'Crypto'))(internal);
}

/**
 * Makes the interface SubtleCrypto (Web Cryptography §14.3), and its object. Its operations are those of the host.
 *
 * @param {Context} context
 * @returns {any} undefined if the host has none
 */
function subtleOf(context) {
    const host = /** @type {any} */ (globalThis.crypto?.subtle);
    if (!host) return undefined;
    class SubtleCrypto {
        /** @param {symbol} key */
        constructor(key) {
            onlyInternal(key);
        }
    }
    const subtle = new SubtleCrypto(internal);
    const { prototype } = SubtleCrypto;
    const hosted = Object.getPrototypeOf(host);
    for (const name of Object.getOwnPropertyNames(hosted)) {
        if (name === 'constructor' || typeof host[name] !== 'function') continue;
        const { [name]: value } = {
            /** @this {unknown} @param {any[]} given */
            async [name](...given) {
                if (this !== subtle) throw new TypeError('Illegal invocation');
                return tracked(context, host[name](...given), `crypto.subtle.${name}()`);
            },
        };
        Object.defineProperty(value, 'length', { value: host[name].length });
        Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
    }
    idlInterface(SubtleCrypto, 'SubtleCrypto');
    return subtle;
}
