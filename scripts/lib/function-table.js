/**
 * The table of functions that the pieces of a program share. Each piece fills one range of it, so that its module
 * needs one segment of elements. Code and static data refer to a function of the table by its index. If an index
 * changes, so does every constant that is such a reference.
 */

import { Failure } from './failure.js';

/** @typedef {import('./program-text.js').Text} Text */

/**
 * Instructions that compute with a number. None may have an index as its operand: its result would not follow a
 * change.
 */
const arithmetic =
    /^\s*\(i(?:32|64)\.(?:add|sub|mul|div_|rem_|and|or|xor|shl|shr_|rotl|rotr|clz|ctz|popcnt|eqz|eq|ne|lt_|gt_|le_|ge_|wrap|extend|load|store\d)/;

const constant = /^(\s*)\(i(32|64)\.const (-?\d+)\)/;

/**
 * Renumbers the functions of a program that was linked twice, with tables that begin at different indices. A constant
 * is an index if it differs between the two links by exactly that difference.
 */
export class FunctionTable {
    #program;
    #shift;
    /** @type {Map<string, number>} */
    #indices;

    /**
     * @param {Text} program
     * @param {Text} analysed the same program, linked for the analysis (cmake/tab.cmake)
     * @param {string[]} order the names of the functions of the table from index 1 on
     */
    constructor(program, analysed, order) {
        this.#program = program;
        this.#shift = analysed.tableBase - program.tableBase;
        this.#indices = new Map(order.map((name, i) => [name, i + 1]));
    }

    /** The number of indices, including that of the null pointer. */
    get size() {
        return this.#indices.size + 1;
    }

    /** The index of a function. @param {string} name @throws {Failure} if it is not in the table */
    indexOf(name) {
        const index = this.#indices.get(name);
        if (index === undefined) throw new Failure(`${name} is not in the table of functions`);
        return index;
    }

    /** The index in this table for an index of the program. @param {number} index */
    #moved(index) {
        return this.indexOf(this.#program.table[index - this.#program.tableBase] ?? '');
    }

    /**
     * The word that replaces a word of the program: the new index if it is an index, else the same word.
     *
     * @param {number} word
     * @param {number} analysed
     * @param {string} [user] the instruction that it is an operand of
     */
    #word(word, analysed, user = '') {
        if (analysed - word !== this.#shift) return word;
        if (arithmetic.test(user))
            throw new Failure(`a function computes with the index ${word}: ${user.trim()}`);
        return this.#moved(word);
    }

    /**
     * @param {string[]} lines of a function
     * @param {string[]} analysed the lines of the function in the program that is linked for the analysis
     * @returns {string[]} the lines with the indices of this table
     * @throws {Failure} if the function computes with an index, or if its instructions differ between the two links
     */
    inFunction(lines, analysed) {
        if (lines.map(instruction).join() !== analysed.map(instruction).join())
            throw new Failure(`the two links differ in more than constants: ${lines[0]}`);
        return lines.map((line, i) => {
            const [, indent = '', width, digits = ''] = constant.exec(line) ?? [];
            const [, , , otherDigits = ''] = constant.exec(analysed[i] ?? '') ?? [];
            if (digits === otherDigits) return line;
            const user = parentOf(lines, i, indent.length);
            const moved =
                width === '64'
                    ? this.#halves(digits, otherDigits, user)
                    : this.#word(+digits, +otherDigits, user);
            return line.replace(`const ${digits}`, `const ${moved}`);
        });
    }

    /**
     * @param {DataView} image static data of the program
     * @param {DataView} analysed the static data of the program that is linked for the analysis
     * @returns {Uint8Array} the static data with the indices of this table
     */
    inData(image, analysed) {
        const moved = new DataView(image.buffer.slice(0));
        for (let at = 0; at < moved.byteLength; at += 4)
            moved.setUint32(at, this.#word(image.getUint32(at, true), analysed.getUint32(at, true)), true);
        return new Uint8Array(moved.buffer);
    }

    /**
     * Replaces both halves of a constant of 64 bits.
     *
     * @param {string} digits
     * @param {string} analysed
     * @param {string} user
     */
    #halves(digits, analysed, user) {
        const [number, other] = [BigInt(digits), BigInt(analysed)];
        const half = (/** @type {bigint} */ shift) =>
            this.#word(Number((number >> shift) & 0xffffffffn), Number((other >> shift) & 0xffffffffn), user);
        return BigInt.asIntN(64, (BigInt(half(32n)) << 32n) | BigInt(half(0n)));
    }
}

/** An instruction without the numbers that depend on the link. @param {string} line */
const instruction = (line) => line.replace(/(const |offset=)-?\d+/, '$1');

/** The instruction that has a line as its operand. @param {string[]} lines @param {number} i @param {number} indent */
function parentOf(lines, i, indent) {
    for (let j = i - 1; j > 0; j--) {
        const line = lines[j] ?? '';
        if (line.length - line.trimStart().length < indent && line.trimStart().startsWith('(')) return line;
    }
    return '';
}
