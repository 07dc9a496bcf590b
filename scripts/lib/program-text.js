/** Reads WebAssembly's text format as Binaryen prints it, one declaration after another. */

/**
 * @typedef {object} Text
 * @property {Map<string, Func>} functions by name, in their order
 * @property {(string | undefined)[]} table the names of functions by their index
 * @property {number} tableBase the first index
 * @property {Segment[]} data
 * @property {Map<string, string>} exports the names of exported functions
 *
 * @typedef {object} Func
 * @property {Set<string>} calls the functions that it calls directly
 * @property {Set<number>} numbers all numbers of at least `least`: offsets of loads and stores; constants of 32 bits
 *   without their sign, since an address may be subtracted; and both halves of constants of 64 bits, since these may
 *   be an address and a length
 *
 * @typedef {{ at: number, bytes: Uint8Array }} Segment
 */

/** The source of a pattern that matches a name and captures it without its `$`. */
export const name = String.raw`\$("(?:[^"\\]|\\.)*"|[^\s()]+)`;

/** The first line of a function. */
export const declared = new RegExp(`^ \\(func ${name}`);

const exported = new RegExp(`^ \\(export "([^"]*)" \\(func ${name}\\)\\)`);
const called = new RegExp(`\\((?:return_)?call ${name}`, 'g');
const anyName = new RegExp(name, 'g');
const segment = /^ \(data \S+ \(i32\.const (\d+)\) "(.*)"\)$/;
const constant = /(?:(i64)\.const |i32\.const |offset=)(-?\d+)/g;

/**
 * @param {string} text of a module
 * @param {number} least the smallest constant that is read
 * @returns {Text}
 */
export function readProgram(text, least) {
    /** @type {Text} */
    const program = { functions: new Map(), table: [], tableBase: 0, data: [], exports: new Map() };
    /** @type {Func | undefined} */
    let current;
    for (const line of text.split('\n')) {
        if (line.startsWith(' (')) current = readDeclaration(program, line);
        if (!current) continue;
        for (const [, callee = ''] of line.matchAll(called)) current.calls.add(callee);
        for (const [, wide, digits = ''] of line.matchAll(constant))
            for (const number of wide ? halves(digits) : [Math.abs(Number(digits))])
                if (number >= least) current.numbers.add(number);
    }
    return program;
}

/**
 * @param {Text} program
 * @param {string} line
 * @returns {Func | undefined} the function, if the line begins one
 */
function readDeclaration(program, line) {
    const [, func] = declared.exec(line) ?? [];
    if (func !== undefined) {
        const begun = { calls: new Set(), numbers: new Set() };
        program.functions.set(func, begun);
        return begun;
    }
    const [, at, bytes] = segment.exec(line) ?? [];
    if (bytes !== undefined) program.data.push({ at: Number(at), bytes: readBytes(bytes) });
    const [, outside, inside] = exported.exec(line) ?? [];
    if (outside !== undefined && inside !== undefined) program.exports.set(outside, inside);
    if (line.startsWith(' (elem')) {
        const [base, names] = [/i32\.const (\d+)/.exec(line)?.[1], line.slice(line.indexOf(')'))];
        program.tableBase = Number(base);
        program.table = [...names.matchAll(anyName)].map(([, element]) => element);
    }
    return undefined;
}

/** @param {string} digits */
const halves = (digits) => [
    Number(BigInt(digits) & 0xffffffffn),
    Number((BigInt(digits) >> 32n) & 0xffffffffn),
];

/** @type {Record<string, number>} */
const escapes = { t: 9, n: 10, r: 13, '"': 34, "'": 39, '\\': 92 };

/** @param {string} text */
function readBytes(text) {
    const bytes = [];
    for (let i = 0; i < text.length; i++) {
        if (text[i] !== '\\') {
            bytes.push(text.charCodeAt(i));
            continue;
        }
        const escaped = escapes[text[++i] ?? ''];
        bytes.push(escaped ?? parseInt(text.slice(i++, i + 1), 16));
    }
    return Uint8Array.from(bytes);
}

/** @param {Segment} segment */
export function writeSegment({ at, bytes }) {
    const text = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
    return ` (data (i32.const ${at}) "${text}")`;
}
