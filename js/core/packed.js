/** Values that are packed one after another, as wasm/src/browser/bridge.hpp says. */

/** A boolean is packed as the number 0 or 1. @typedef {string | null | number | boolean} Packed */

/** The length that stands for null. */
export const nullSize = 0xffffffff;

/**
 * The names in a set that is a number: bit n stands for the name of number n.
 *
 * @template {string} Name
 * @param {readonly Name[]} names
 * @param {number} bits
 */
export const namesIn = (names, bits) => names.filter((_, index) => bits & (1 << index));

/** Reads what C++ has packed, in the order in which it was packed, before anything of C++ is called. */
export class Unpacker {
    #heap;
    #view;
    #at;
    #decoder;

    /**
     * @param {Uint8Array} heap
     * @param {number} at the address of the first value
     * @param {TextDecoder} decoder
     */
    constructor(heap, at, decoder) {
        this.#heap = heap;
        this.#view = new DataView(heap.buffer);
        this.#at = at;
        this.#decoder = decoder;
    }

    number() {
        const number = this.#view.getFloat64(this.#at, true);
        this.#at += 8;
        return number;
    }

    /** @returns {string} */
    text() {
        return this.optionalText() ?? '';
    }

    optionalText() {
        const size = this.#view.getUint32(this.#at, true);
        this.#at += 4;
        if (size === nullSize) return null;
        const from = this.#at;
        this.#at += size;
        return this.#decoder.decode(this.#heap.subarray(from, this.#at));
    }

    /**
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
