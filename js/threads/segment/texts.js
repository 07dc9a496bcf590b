/** Texts in the blocks of a segment (segment.hpp). */

import { blockBytes, textFields, textUnits } from './segment-layout.js';

/** The most UTF-16 units for one call of String.fromCharCode(). */
const unitsMax = 8192;

/**
 * Reads and writes texts. Requires that the thread is inside the segment: that it holds the segment's mutex.
 */
export class Texts {
    #words;
    #units;
    #segment;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {number} segment
     */
    constructor(core, segment) {
        this.#words = core.words;
        this.#units = core.units;
        this.#segment = segment;
    }

    /**
     * Reads a field of a block.
     *
     * @param {number} block
     * @param {number} field
     * @returns {number}
     */
    word(block, field) {
        return /** @type {number} */ (this.#words[(this.#segment + block * blockBytes + field) >> 2]);
    }

    /**
     * Writes a text.
     *
     * @param {number} text the first of its blocks, which have the length of `from`
     * @param {string} from
     */
    write(text, from) {
        const units = this.#units;
        this.#pieces(text, from.length, (at, count, done) => {
            for (let i = 0; i < count; i++) units[at + i] = from.charCodeAt(done + i);
        });
    }

    /** Reads a text. @param {number} text the first of its blocks */
    read(text) {
        const all = this.word(text, textFields.units);
        const copy = new Uint16Array(all);
        this.#pieces(text, all, (at, count, done) => copy.set(this.#units.subarray(at, at + count), done));
        let read = '';
        for (let at = 0; at < all; at += unitsMax)
            read += String.fromCharCode(...copy.subarray(at, at + unitsMax));
        return read;
    }

    /** Reads a text, if there is one. @param {number} text @returns {string | null} null if `text` is 0 */
    readIf(text) {
        return text === 0 ? null : this.read(text);
    }

    /**
     * Calls `piece` for each block of a text.
     *
     * @param {number} text the first block
     * @param {number} all the length of the text in units
     * @param {(at: number, count: number, done: number) => void} piece gets the index of the first unit in
     *   the memory, the number of units in the block, and the number of units before them
     */
    #pieces(text, all, piece) {
        let [offset, most] = [textFields.head, textUnits.head];
        for (let done = 0, block = text; done < all; block = this.word(block, textFields.next)) {
            const count = Math.min(most, all - done);
            piece((this.#segment + block * blockBytes + offset) >> 1, count, done);
            done += count;
            [offset, most] = [textFields.more, textUnits.more];
        }
    }
}
