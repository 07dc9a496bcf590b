/** Names the functions that a piece imports, in its binary. */

/** The module that the functions are imported from, as WebAssembly writes its name. */
const imported = '\x09functions';

/** The same module in the file: it is named once for each function, and js/core/program.js provides it. */
const shortModule = 'f';

const importSection = 2;

/** An unsigned number in WebAssembly's encoding (LEB128). @param {number} n @returns {number[]} */
const encoded = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...encoded(n >> 7)]);

/** @param {Uint8Array} bytes @param {number} at @returns {[n: number, end: number]} */
function decoded(bytes, at) {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++] ?? 0;
        n |= (byte & 0x7f) << shift;
        if (byte < 0x80) return [n, at];
    }
}

/** A text, with its length before it. @param {string} text */
const named = (text) => [...encoded(text.length), ...Buffer.from(text)];

/**
 * Renames the functions that a module imports. Their names are indices; each name becomes the distance from the index
 * before it. Distances are often the same number, so that they compress well. The names need not be unique, because a
 * module gets its imports in their order (WebAssembly JavaScript Interface, "read the imports"). This is the last step,
 * because some tools join imports of one name.
 *
 * @param {Buffer} module a module whose imports of `functions`, if it has any, follow one another
 * @returns {Buffer}
 */
export function nameByDistance(module) {
    for (let at = 8; at < module.length;) {
        const [size, begin] = decoded(module, at + 1);
        if (module[at] === importSection) {
            const section = Buffer.from(shortened(module.subarray(begin, begin + size)));
            const head = Buffer.from([importSection, ...encoded(section.length)]);
            return Buffer.concat([module.subarray(0, at), head, section, module.subarray(begin + size)]);
        }
        at = begin + size;
    }
    return module;
}

/** @param {Buffer} section the imports @returns {number[]} */
function shortened(section) {
    let at = section.indexOf(imported);
    if (at < 0) return [...section];
    const bytes = [...section.subarray(0, at)];
    for (let before = 0; section.indexOf(imported, at) === at;) {
        const begin = at + imported.length + 1;
        const name = begin + (section[begin - 1] ?? 0);
        const index = Number(section.subarray(begin, name).toString());
        const [, end] = decoded(section, name + 1); // behind the kind, which is 0, and the type
        bytes.push(...named(shortModule), ...named(String(index - before)), ...section.subarray(name, end));
        [before, at] = [index, end];
    }
    return [...bytes, ...section.subarray(at)];
}
