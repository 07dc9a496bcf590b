/** Unsigned numbers in WebAssembly's encoding (LEB128). */

/** @param {number} n @returns {number[]} */
export const encoded = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...encoded(n >> 7)]);

/** @param {Uint8Array} bytes @param {number} at @returns {[n: number, end: number]} */
export function decoded(bytes, at) {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++] ?? 0;
        n |= (byte & 0x7f) << shift;
        if (byte < 0x80) return [n, at];
    }
}

/**
 * Replaces a section of a module, if the module has it.
 *
 * @param {Buffer} module
 * @param {number} id of the section
 * @param {(section: Buffer) => number[] | Uint8Array} replace
 * @returns {Buffer}
 */
export function withSection(module, id, replace) {
    for (let at = 8; at < module.length;) {
        const [size, begin] = decoded(module, at + 1);
        if (module[at] === id) {
            const section = Buffer.from(replace(module.subarray(begin, begin + size)));
            const head = Buffer.from([id, ...encoded(section.length)]);
            return Buffer.concat([module.subarray(0, at), head, section, module.subarray(begin + size)]);
        }
        at = begin + size;
    }
    return module;
}
