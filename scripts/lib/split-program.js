/**
 * Splits the program of a tab into the pieces of bridge/exports.js, by Binaryen's wasm-split: the counters as the
 * primary module, and one secondary module for each other piece. They share a memory and a table.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pieces } from '../../bridge/exports.js';
import { Failure } from './failure.js';
import { orderFunctions } from './function-order.js';
import { buildFolder, logFolder } from './paths.js';
import { graphOf, objectAt, reached } from './program-graph.js';
import { plainName, readProgram, writeSegment } from './program-text.js';
import { step } from './progress.js';
import { run } from './run.js';

/** @typedef {import('./program-graph.js').Item} Item */
/** @typedef {import('./program-text.js').Text} Text */

const folder = join(buildFolder, 'wasm-single');
const outFolder = join(folder, 'pieces');
const log = join(logFolder, 'split-program.log');

/** The lowest address and index in the program that is linked for the analysis (cmake/tab.cmake). */
const leastReference = 2 ** 24;

/** Without reference types: else wasm-split replaces each call of another piece's function by one through a thunk. */
const features = ['bulk-memory', 'sign-ext', 'mutable-globals', 'nontrapping-float-to-int', 'multivalue'].map(
    (feature) => `--enable-${feature}`,
);

const [primary = '', shared = ''] = Object.keys(pieces);

/** Whether a function is a member of the class. @param {Item} func @param {string} name */
const isMember = (func, name) => String(func).startsWith(`"${name}::`);

/** The piece of each function and object. @param {Text} program @param {import('./program-graph.js').Graph} graph */
function pieceOfItems(program, { edges }) {
    const pieceOfExport = new Map(
        Object.entries(pieces).flatMap(([piece, { exports }]) => exports.map(({ name }) => [name, piece])),
    );
    /** @type {Map<string, Item[]>} */
    const roots = new Map(Object.keys(pieces).map((piece) => [piece, []]));
    for (const [name, func] of program.exports) roots.get(pieceOfExport.get(name) ?? primary)?.push(func);
    /** The virtual tables of a class, by a function that is in them. @param {string} name */
    const tablesOf = (name) =>
        [...edges].filter(
            ([item, held]) => typeof item === 'number' && [...held].some((func) => isMember(func, name)),
        );
    const entrances = Object.entries(pieces).flatMap(([piece, { entered }]) =>
        entered === undefined ? [] : tablesOf(entered).map(([table, held]) => ({ piece, table, held })),
    );
    const tables = new Set(entrances.map(({ table }) => table));
    const sets = new Map(
        [...roots].map(([piece, items]) => [piece, reached(edges, items, (item) => tables.has(item))]),
    );
    for (const { piece, held } of entrances) sets.set(piece, reached(edges, [...held]));
    return (/** @type {Item} */ item) => {
        const users = [...sets].filter(([, set]) => set.has(item)).map(([piece]) => piece);
        if (users.length === 0 || users.includes(primary)) return primary;
        return users.length === 1 ? /** @type {string} */ (users[0]) : shared;
    };
}

/**
 * Whether an object may leave the primary module with the only piece that refers to its address: if no other object's
 * beginning can lie in it, and it in no other's. That holds of a virtual table, which follows the two words before its
 * functions (Itanium C++ ABI §2.5.2), and of a text that follows another's NUL.
 *
 * @param {Text} program
 * @param {number} at
 * @param {number} end of the object, and where the next begins
 */
function isMovable({ data, table, tableBase }, at, end) {
    const segment = data.find(({ at: from, bytes }) => from <= at && at < from + bytes.length);
    if (!segment) return false;
    const { bytes } = segment;
    const from = at - segment.at;
    const object = bytes.subarray(from, end - segment.at);
    const view = new DataView(bytes.buffer);
    const isFunction = (/** @type {number} */ word) => word >= tableBase && word < tableBase + table.length;
    const words = Array.from({ length: object.length >> 2 }, (_, i) => view.getUint32(from + 4 * i, true));
    const headless = from === 0 || (from >= 8 && view.getFloat64(from - 8, true) === 0);
    const isVirtualTable =
        at % 4 === 0 && isFunction(words[0] ?? 0) && words.every((word) => word === 0 || isFunction(word));
    if (isVirtualTable) return headless;
    const text = object.subarray(0, object.indexOf(0));
    const printable = text.length > 0 && text.every((byte) => byte >= 0x20 && byte < 0x7f);
    const padded = object.subarray(text.length).every((byte) => byte === 0);
    return printable && padded && object.includes(0) && (from === 0 || bytes[from - 1] === 0);
}

/** Runs of zeros that are shorter than the head of another segment stay within theirs. */
const zerosMax = 8;

/**
 * The static data of a piece: memory is zero where nothing is written to it. A segment has no byte that is not the
 * piece's own, since the owner may have changed it before this piece is loaded.
 *
 * @param {Text} program
 * @param {(at: number) => boolean} isOwn
 */
function dataOf(program, isOwn) {
    /** @type {import('./program-text.js').Segment[]} */
    const segments = [];
    for (const { at, bytes } of program.data) {
        let [begin, end] = [0, 0];
        const close = () => {
            if (end > begin) segments.push({ at: at + begin, bytes: bytes.slice(begin, end) });
        };
        for (const [i, byte] of bytes.entries()) {
            if (!isOwn(at + i) || (byte !== 0 && i - end > zerosMax)) {
                close();
                begin = end = isOwn(at + i) ? i : i + 1;
            }
            if (byte !== 0 && isOwn(at + i)) {
                if (end <= begin) begin = i;
                end = i + 1;
            }
        }
        close();
    }
    return segments.map(writeSegment);
}

/** @param {Text} program @param {number} base @param {number} length */
function imageOf({ data }, base, length) {
    const image = new DataView(new ArrayBuffer(length));
    for (const { at, bytes } of data) new Uint8Array(image.buffer).set(bytes, at - base);
    return image;
}

/**
 * How far addresses of the two links are apart.
 *
 * @param {Text} program
 * @param {Text} analysed
 * @throws {Failure} unless they differ in their addresses and indices alone
 */
function shiftBetween(program, analysed) {
    const [base, otherBase] = [program, analysed].map(({ data }) => Math.min(...data.map(({ at }) => at)));
    const shift = (otherBase ?? 0) - (base ?? 0);
    const ends = [...program.data, ...analysed.data.map(({ at, bytes }) => ({ at: at - shift, bytes }))];
    const length = (Math.max(...ends.map(({ at, bytes }) => at + bytes.length)) - (base ?? 0) + 3) & ~3;
    const [image, other] = [imageOf(program, base ?? 0, length), imageOf(analysed, otherBase ?? 0, length)];
    const shifts = [0, shift, analysed.tableBase - program.tableBase];
    const words = Array.from({ length: length / 4 }, (_, i) => 4 * i);
    const alike =
        [...program.functions.keys()].join() === [...analysed.functions.keys()].join() &&
        program.table.join() === analysed.table.join() &&
        words.every((at) => shifts.includes(other.getUint32(at, true) - image.getUint32(at, true)));
    if (!alike) throw new Failure('tab.wasm and tab-analysis.wasm were linked into different programs');
    return shift;
}

/**
 * @param {string} text of the program
 * @param {string} analysis text of the program that was linked for the analysis
 */
function plan(text, analysis) {
    const [program, analysed] = [readProgram(text, Infinity), readProgram(analysis, leastReference)];
    const shift = shiftBetween(program, analysed);
    const graph = graphOf(analysed);
    const pieceOf = pieceOfItems(analysed, graph);
    const dataEnd = Math.max(...analysed.data.map(({ at, bytes }) => at + bytes.length));
    /** @type {Map<number, string>} */
    const owners = new Map(
        graph.objects.map((object, i) => [
            object,
            isMovable(analysed, object, graph.objects[i + 1] ?? dataEnd) ? pieceOf(object) : primary,
        ]),
    );
    return Object.keys(pieces).map((piece) => ({
        piece,
        functions: [...program.functions.keys()].filter((func) => pieceOf(func) === piece),
        exports: [...program.exports].filter(([, func]) => pieceOf(func) === piece),
        data: dataOf(program, (at) => (owners.get(objectAt(graph.objects, at + shift)) ?? primary) === piece),
    }));
}

/** @param {string} file */
const read = (file) => readFileSync(file, 'utf8');

/** The text of a module with further declarations at its end. @param {string} text @param {string[]} lines */
const extended = (text, lines) => `${text.trimEnd().replace(/\)$/, '')}${lines.join('\n')}\n)\n`;

/** A custom section that names the build (WebAssembly Core §5.5.3). @param {string} name @param {string} content */
function customSection(name, content) {
    const payload = Buffer.concat([Buffer.from([name.length]), Buffer.from(name + content)]);
    if (payload.length > 127) throw new Failure('the size of the section takes more than one byte');
    return Buffer.concat([Buffer.from([0, payload.length]), payload]);
}

/**
 * Writes build/wasm-single/pieces/<piece>.wasm, and <piece>.debug.wasm with the names of functions, unless they are of
 * this program.
 *
 * @param {import('./toolchain.js').Toolchain} tools
 */
export async function splitProgram(tools) {
    const program = join(folder, 'tab.wasm');
    const build = createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, 16);
    const scripts = [
        'split-program',
        'function-order',
        'program-graph',
        'program-text',
        '../../bridge/exports',
    ];
    const sources = scripts.map((script) => readFileSync(join(import.meta.dirname, `${script}.js`)));
    const hash = createHash('sha256').update(build);
    for (const source of sources) hash.update(source);
    const stamp = join(outFolder, 'stamp');
    const current = hash.digest('hex');
    if (existsSync(stamp) && read(stamp) === current) return;
    rmSync(outFolder, { recursive: true, force: true });
    rmSync(log, { force: true });
    mkdirSync(outFolder, { recursive: true });
    await step('split the program', () => split(tools, program, build));
    writeFileSync(stamp, current);
}

/**
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string} program
 * @param {string} build
 */
async function split(tools, program, build) {
    const file = (/** @type {string} */ name) => join(outFolder, name);
    const tool = (/** @type {string[]} */ ...[name = '', ...args]) =>
        run(tools.command(name, [...args, ...features]), log);
    await tool('wasm-dis', program, '-o', file('program.wat'));
    await tool('wasm-dis', join(folder, 'tab-analysis.wasm'), '-o', file('analysis.wat'));
    const text = read(file('program.wat'));
    const planned = plan(text, read(file('analysis.wat')));
    const secondary = planned.slice(1);
    const moved = new Set(secondary.flatMap(({ exports }) => exports.map(([name]) => name)));
    const kept = text.split('\n').filter((line) => {
        const [, exported = ''] = /^ \(export "([^"]*)"/.exec(line) ?? [];
        return !line.startsWith(' (data ') && !moved.has(exported);
    });
    writeFileSync(file('whole.wat'), kept.join('\n'));
    writeFileSync(
        file('manifest'),
        secondary
            .map(({ piece, functions }) => [piece, ...functions.map(plainName), ''].join('\n'))
            .join('\n'),
    );
    await tool('wasm-as', file('whole.wat'), '-g', '-o', file('whole.wasm'));
    await tool(
        ...['wasm-split', '--multi-split', file('whole.wasm'), '--manifest', file('manifest')],
        ...['--no-placeholders', '--import-namespace', 'primary', '--export-prefix', '_', '-S'],
        ...['--out-prefix', `${outFolder}/`, '-o', file(`${primary}.wast`)],
    );
    for (const { piece, exports, data } of planned) {
        const exported =
            piece === primary ? [] : exports.map(([name, func]) => ` (export "${name}" (func $${func}))`);
        const module = extended(read(file(`${piece}.wast`)), [...exported, ...data]);
        writeFileSync(file(`${piece}.wat`), orderFunctions(module));
        await tool('wasm-as', file(`${piece}.wat`), '-g', '-o', file(`${piece}.debug.wasm`));
        await tool('wasm-opt', file(`${piece}.debug.wasm`), '--strip-debug', '-o', file(`${piece}.wasm`));
        for (const form of ['wasm', 'debug.wasm']) {
            const bytes = readFileSync(file(`${piece}.${form}`));
            writeFileSync(file(`${piece}.new`), Buffer.concat([bytes, customSection('build', build)]));
            renameSync(file(`${piece}.new`), file(`${piece}.${form}`));
        }
    }
}
