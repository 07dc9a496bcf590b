/**
 * Values that are packed one after another in the program's memory. wasm/src/browser/bridge.hpp describes the
 * format.
 */

/** A boolean is packed as the number 0 or 1. @typedef {string | null | number | boolean} Packed */

/** The length that stands for null. */
export const nullSize = 0xffffffff;

/** Up to this length, to copy ASCII is faster than to call the decoder. */
const copiedBytesMax = 48;

/**
 * Decodes the UTF-8 text from one address to another.
 *
 * @param {Uint8Array} heap
 * @param {number} from
 * @param {number} to
 * @param {TextDecoder} decoder
 */
export function decoded(heap, from, to, decoder) {
    let text = '';
    for (let at = from; at < to; at++) {
        const byte = /** @type {number} */ (heap[at]);
        if (to - from > copiedBytesMax || byte > 127) return decoder.decode(heap.subarray(from, to));
        text += String.fromCharCode(byte);
    }
    return text;
}

/**
 * Returns the names in a set, which is given as a number: bit n stands for `names[n]`.
 *
 * @template {string} Name
 * @param {readonly Name[]} names
 * @param {number} bits
 */
export const namesIn = (names, bits) => names.filter((_, index) => bits & (1 << index));

/**
 * Reads the values that C++ has packed, in the same order. Requires that nothing of C++ is called meanwhile,
 * since it may reuse or move the memory.
 */
export class Unpacker {
    #heap;
    #view;
    #at;
    #decoder;

    /**
     * @param {Pick<import('./program.js').Glue, 'HEAPU8' | 'view'>} memory
     * @param {number} at the address of the first value
     * @param {TextDecoder} decoder
     */
    constructor({ HEAPU8, view }, at, decoder) {
        this.#heap = HEAPU8;
        this.#view = view;
        this.#at = at;
        this.#decoder = decoder;
    }

    number() {
        const number = this.#view.getFloat64(this.#at, true);
        this.#at += 8;
        return number;
    }

    /** Reads a text. @returns {string} */
    text() {
        return this.optionalText() ?? '';
    }

    optionalText() {
        const size = this.#view.getUint32(this.#at, true);
        this.#at += 4;
        if (size === nullSize) return null;
        const from = this.#at;
        this.#at += size;
        return decoded(this.#heap, from, this.#at, this.#decoder);
    }

    /**
     * Reads a list.
     *
     * @template T
     * @param {(from: Unpacker) => T} readOne
     * @returns {T[]}
     */
    list(readOne) {
        const all = [];
        for (let left = this.number(); left > 0; left--) all.push(readOne(this));
        return all;
    }
}
