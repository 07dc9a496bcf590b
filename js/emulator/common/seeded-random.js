/** Random numbers from a seed: for Math.random(), for crypto, and for where faults fall. */

/** SplitMix32 (Steele, Lea, Flood 2014, in 32 bits): equal seeds, equal draws, on every engine. */
export class SeededRandom {
    #state;

    /** @param {number} seed @param {number} [stream] draws of different streams have nothing in common */
    constructor(seed, stream = 0) {
        this.#state =
            (Math.imul(seed | 0, 0x9e3779b1) ^
                Math.floor(seed / 2 ** 32) ^
                Math.imul(stream + 1, 0x85ebca6b)) |
            0;
        this.bits();
    }

    /** 32 of them. */
    bits() {
        this.#state = (this.#state + 0x9e3779b9) | 0;
        let mixed = this.#state ^ (this.#state >>> 16);
        mixed = Math.imul(mixed, 0x21f0aaad);
        mixed ^= mixed >>> 15;
        mixed = Math.imul(mixed, 0x735a2d97);
        return (mixed ^ (mixed >>> 15)) >>> 0;
    }

    /** One of 0 … count − 1. @param {number} count */
    below(count) {
        return this.bits() % count;
    }

    /** As Math.random(): 53 bits. */
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
