/**
 * Splits the program of a tab into the pieces of bridge/exports.js, by Binaryen's wasm-split: the counters as the
 * primary module, and one secondary module for each other piece. They share a memory and a table.
 */

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pieces } from '../../bridge/exports.js';
import { Failure } from './failure.js';
import { renameExports, splitPrefix } from './module-names.js';
import { orderFunctions } from './function-order.js';
import { bridgeBuild } from './bridge-generator.js';
import { buildFolder, logFolder } from './paths.js';
import { graphOf, objectAt, reached } from './program-graph.js';
import { plainName, readProgram } from './program-text.js';
import { step } from './progress.js';
import { run } from './run.js';
import { ownersOf, segmentsOf } from './static-data.js';

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
    const owners = ownersOf(analysed, graph.objects, pieceOf, { primary, shared });
    return Object.keys(pieces).map((piece) => ({
        piece,
        functions: [...program.functions.keys()].filter((func) => pieceOf(func) === piece),
        exports: [...program.exports].filter(([, func]) => pieceOf(func) === piece),
        data: segmentsOf(
            program,
            (at) => (owners.get(objectAt(graph.objects, at + shift)) ?? primary) === piece,
        ),
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
 * this program. Each names its build, which begins with that of the bridge: how a program is split decides which piece
 * imports what under which name.
 *
 * @param {import('./toolchain.js').Toolchain} tools
 */
export async function splitProgram(tools) {
    const program = join(folder, 'tab.wasm');
    const scripts = [
        'split-program',
        'function-order',
        'module-names',
        'program-graph',
        'program-text',
        'static-data',
        '../../bridge/exports',
    ];
    const sources = scripts.map((script) => readFileSync(join(import.meta.dirname, `${script}.js`)));
    const bridge = bridgeBuild();
    const hash = createHash('sha256').update(readFileSync(program)).update(bridge);
    for (const source of sources) hash.update(source);
    const stamp = join(outFolder, 'stamp');
    const current = hash.digest('hex');
    if (existsSync(stamp) && read(stamp) === current) return;
    rmSync(outFolder, { recursive: true, force: true });
    rmSync(log, { force: true });
    mkdirSync(outFolder, { recursive: true });
    await step('split the program', () => split(tools, program, `${bridge}-${current.slice(0, 8)}`));
    writeFileSync(stamp, current);
}

/** @param {string} name */
const file = (name) => join(outFolder, name);

/** The text of the program without what goes to other pieces by itself. @param {string} text @param {Set<string>} moved exports */
const withoutMoved = (text, moved) =>
    text
        .split('\n')
        .filter((line) => {
            const [, exported = ''] = /^ \(export "([^"]*)"/.exec(line) ?? [];
            return !line.startsWith(' (data ') && !moved.has(exported);
        })
        .join('\n');

/**
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string} program
 * @param {string} build
 */
async function split(tools, program, build) {
    const tool = (/** @type {string[]} */ ...[name = '', ...args]) =>
        run(tools.command(name, [...args, ...features]), log);
    await tool('wasm-dis', program, '-o', file('program.wat'));
    await tool('wasm-dis', join(folder, 'tab-analysis.wasm'), '-o', file('analysis.wat'));
    const text = read(file('program.wat'));
    const planned = plan(text, read(file('analysis.wat')));
    const secondary = planned.slice(1);
    const moved = secondary.flatMap(({ exports }) => exports.map(([name]) => name));
    writeFileSync(file('whole.wat'), withoutMoved(text, new Set(moved)));
    const sections = secondary.map(({ piece, functions }) =>
        [piece, ...functions.map(plainName), ''].join('\n'),
    );
    writeFileSync(file('manifest'), sections.join('\n'));
    await tool('wasm-as', file('whole.wat'), '-g', '-o', file('whole.wasm'));
    await tool(
        ...['wasm-split', '--multi-split', file('whole.wasm'), '--manifest', file('manifest')],
        ...['--no-placeholders', '--import-namespace', 'primary', '--export-prefix', splitPrefix, '-S'],
        ...['--out-prefix', `${outFolder}/`, '-o', file(`${primary}.wast`)],
    );
    const modules = planned.map(({ piece, exports, data }) => {
        const exported =
            piece === primary ? [] : exports.map(([name, func]) => ` (export "${name}" (func $${func}))`);
        return orderFunctions(extended(read(file(`${piece}.wast`)), [...exported, ...data]));
    });
    for (const [i, module] of renameExports(modules).entries()) {
        const piece = planned[i]?.piece;
        writeFileSync(file(`${piece}.wat`), module);
        await tool('wasm-as', file(`${piece}.wat`), '-g', '-o', file(`${piece}.debug.wasm`));
        await tool('wasm-opt', file(`${piece}.debug.wasm`), '--strip-debug', '-o', file(`${piece}.wasm`));
        for (const form of ['wasm', 'debug.wasm'])
            appendFileSync(file(`${piece}.${form}`), customSection('build', build));
    }
}
