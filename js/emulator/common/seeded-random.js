/** Random numbers from a seed: for Math.random(), for crypto, and for the choice of faults. */

/** SplitMix32 (Steele, Lea, Flood 2014, in 32 bits). Equal seeds give equal draws on every engine. */
export class SeededRandom {
    #state;

    /** @param {number} seed @param {number} [stream] different streams of a seed give independent draws */
    constructor(seed, stream = 0) {
        this.#state =
            (Math.imul(seed | 0, 0x9e3779b1) ^
                Math.floor(seed / 2 ** 32) ^
                Math.imul(stream + 1, 0x85ebca6b)) |
            0;
        this.bits();
    }

    /** Draws 32 bits, as an unsigned integer. */
    bits() {
        this.#state = (this.#state + 0x9e3779b9) | 0;
        let mixed = this.#state ^ (this.#state >>> 16);
        mixed = Math.imul(mixed, 0x21f0aaad);
        mixed ^= mixed >>> 15;
        mixed = Math.imul(mixed, 0x735a2d97);
        return (mixed ^ (mixed >>> 15)) >>> 0;
    }

    /** Draws an integer from 0 to `count` − 1. @param {number} count */
    below(count) {
        return this.bits() % count;
    }

    /** Draws a fraction from 0 to 1, without 1, of 53 bits, as Math.random() does. */
    fraction() {
        return ((this.bits() >>> 5) * 2 ** 26 + (this.bits() >>> 6)) / 2 ** 53;
    }

    uuid() {
        const bytes = Array.from({ length: 16 }, () => this.below(256));
        bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // RFC 9562 §5.4
        bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
        return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
            '-',
        );
    }
}
