/** Parses the text of a program, and writes the text of the modules of its pieces. */

import { Failure } from './failure.js';
import { declared, name } from './program-text.js';

/**
 * @typedef {object} Source
 * @property {string[]} types
 * @property {string[]} imports
 * @property {string} memory
 * @property {string} stackPointer the one global variable
 * @property {Map<string, string[]>} functions the lines of each function, by its name
 *
 * @typedef {object} Piece
 * @property {string[]} imports the functions of other pieces that it calls, in the order of the table
 * @property {string[]} functions in their order
 * @property {string[]} elements of the table, in their order
 * @property {[name: string, func: string][]} exports
 * @property {string[]} data
 */

const imported = new RegExp(`^ \\(import "[^"]*" "[^"]*" \\(func ${name}`);
const signature = /\((param|result) (?:\$\d+ )?([^()]*)\)/g;

/** @param {string} text of a module @returns {Source} */
export function readSource(text) {
    const declarations = text.split(/\n(?= \()/);
    const of = (/** @type {string} */ kind) => declarations.filter((one) => one.startsWith(` (${kind} `));
    const [[memory = '', ...memories], [stackPointer = '', ...globals]] = [of('memory'), of('global')];
    if (memories.length > 0 || globals.length > 0)
        throw new Failure(
            'the program must have one memory and one global variable, the stack pointer, but has more',
        );
    const functions = new Map(of('func').map((one) => [nameOf(declared, one), linesOf(one)]));
    return { types: of('type'), imports: of('import'), memory, stackPointer, functions };
}

/** @param {RegExp} pattern @param {string} line */
const nameOf = (pattern, line) => pattern.exec(line)?.[1] ?? '';

/** The lines of a function, without the bracket that ends its module. @param {string} declaration */
const linesOf = (declaration) => declaration.replace(/\n\)\s*$/, '').split('\n');

/** The names of functions that the program imports. @param {Source} source */
export const importsOf = ({ imports }) => imports.map((line) => nameOf(imported, line));

/** The type of a function, as an import declares it. @param {Source} source @param {string} func */
export function typeOf({ functions, imports }, func) {
    const line = functions.get(func)?.[0] ?? imports.find((one) => nameOf(imported, one) === func) ?? '';
    const behind = line.slice(line.indexOf(`$${func}`) + func.length + 1);
    return [...behind.matchAll(signature)].map(([, kind, types]) => ` (${kind} ${types})`).join('');
}

/**
 * The memory, the table and the stack pointer: the primary module defines and exports them, and the others import them
 * under the same names.
 *
 * @param {Source} source
 * @param {number} tableSize
 */
function shared({ memory, stackPointer }, tableSize) {
    const table = ` (table $0 ${tableSize} ${tableSize} funcref)`;
    const type = stackPointer.replace(/ \(i32\.const \d+\)\)$/, ')').trim();
    return {
        definitions: [stackPointer, memory, table],
        imports: [
            ` (import "primary" "memory" ${memory.trim()})`,
            ` (import "primary" "table" ${table.trim()})`,
            ` (import "primary" "__stack_pointer" ${type})`,
        ],
        exports: [
            ' (export "memory" (memory $0))',
            ' (export "table" (table $0))',
            ' (export "__stack_pointer" (global $__stack_pointer))',
        ],
    };
}

/**
 * Writes the module of a piece. It imports the functions of other pieces under their indices in the table.
 *
 * @param {Source} source
 * @param {Piece} piece
 * @param {boolean} isPrimary whether the others import from it
 * @param {import('./function-table.js').FunctionTable} table
 * @returns {string} the text of a module
 */
export function writePiece(source, piece, isPrimary, table) {
    const { definitions, imports, exports } = shared(source, table.size);
    const functions = piece.imports.map(
        (func) => ` (import "functions" "${table.indexOf(func)}" (func $${func}${typeOf(source, func)}))`,
    );
    const [first = ''] = piece.elements;
    const elements = piece.elements.map((func) => ` $${func}`).join('');
    return [
        '(module',
        ...source.types,
        ...(isPrimary ? [...source.imports, ...definitions] : [...imports, ...functions]),
        ...(first ? [` (elem $0 (i32.const ${table.indexOf(first)})${elements})`] : []),
        ...(isPrimary ? exports : []),
        ...piece.exports.map(([exported, func]) => ` (export "${exported}" (func $${func}))`),
        ...piece.functions.flatMap((func) => source.functions.get(func) ?? []),
        ...piece.data,
        ')',
        '',
    ].join('\n');
}
