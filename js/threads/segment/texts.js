/** Texts in a segment's blocks: see segment.hpp. They are read and written only inside. */

import { blockBytes, textFields, textUnits } from './segment-layout.js';

/** Units that one call of String.fromCharCode may be given. */
const unitsMax = 8192;

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
     * @param {number} block
     * @param {number} field
     * @returns {number}
     */
    word(block, field) {
        return /** @type {number} */ (this.#words[(this.#segment + block * blockBytes + field) >> 2]);
    }

    /** @param {number} text of the length of `from` @param {string} from */
    write(text, from) {
        const units = this.#units;
        this.#pieces(text, from.length, (at, count, done) => {
            for (let i = 0; i < count; i++) units[at + i] = from.charCodeAt(done + i);
        });
    }

    /** @param {number} text */
    read(text) {
        const all = this.word(text, textFields.units);
        const copy = new Uint16Array(all);
        this.#pieces(text, all, (at, count, done) => copy.set(this.#units.subarray(at, at + count), done));
        let read = '';
        for (let at = 0; at < all; at += unitsMax)
            read += String.fromCharCode(...copy.subarray(at, at + unitsMax));
        return read;
    }

    /** @param {number} text @returns {string | null} null for none */
    readIf(text) {
        return text === 0 ? null : this.read(text);
    }

    /**
     * @param {number} text
     * @param {number} all
     * @param {(at: number, count: number, done: number) => void} piece
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
