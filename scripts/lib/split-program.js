/**
 * Splits the program of a tab into the pieces of bridge/exports.js. The counters are the primary module, and each
 * other piece is a secondary module. All modules share a memory and a table. A module imports the functions of other
 * pieces that it calls.
 */

import { createHash } from 'node:crypto';
import {
    appendFileSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pieces } from '../../bridge/exports.js';
import { Failure } from './failure.js';
import { orderFunctions } from './function-order.js';
import { FunctionTable } from './function-table.js';
import { bridgeBuild } from './bridge-generator.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { addressesWhereUsed } from './late-addresses.js';
import { roundLocalCounts } from './local-counts.js';
import { graphOf, objectAt, reached } from './program-graph.js';
import { nameByDistance } from './piece-imports.js';
import { importsOf, readSource, typeOf, writePiece } from './piece-text.js';
import { readProgram } from './program-text.js';
import { step } from './progress.js';
import { withoutReturnedObjects } from './returned-objects.js';
import { run } from './run.js';
import { ownersOf, segmentsOf } from './static-data.js';

/** @typedef {import('./program-graph.js').Item} Item */
/** @typedef {import('./program-text.js').Text} Text */
/** @typedef {import('./piece-text.js').Source} Source */

const folder = join(buildFolder, 'wasm-single');
const outFolder = join(folder, 'pieces');
const log = join(logFolder, 'split-program.log');

/** The folder with the calls of each piece. */
const callsFolder = join(repository, 'bridge/exports');

/** The lowest address and index in the program that is linked for the analysis (cmake/tab.cmake). */
const leastReference = 2 ** 24;

/** The features of WebAssembly that every supported browser has. */
const features = ['bulk-memory', 'sign-ext', 'mutable-globals', 'nontrapping-float-to-int', 'multivalue'].map(
    (feature) => `--enable-${feature}`,
);

/**
 * The options that make a piece small. The blocks and branches of each function are made anew, since those of the
 * coroutines are roundabout, and then equal ends of branches are joined. No static data is below the address 1024. The
 * hints of alignment differ between equal instructions, and today's compilers to machine code ignore them.
 */
const shrinking = [
    ...['--flatten', '--rereloop', '-Oz', '-Oz', '--code-folding', '-Oz'],
    ...['--low-memory-unused', '--dealign'],
];

const [primary = '', shared = ''] = Object.keys(pieces);

/** Whether a function is the named one, or a member of the named class. @param {Item} func @param {string} name */
const isNamed = (func, name) => [`"${name}(`, `"${name}::`].some((start) => String(func).startsWith(start));

/**
 * The virtual methods by which other pieces enter a piece.
 *
 * @param {import('./program-graph.js').Graph} graph
 * @returns {Map<Item, string>} the piece of each method
 * @throws {Failure} if no virtual table contains a method that bridge/exports.js names
 */
function entrancesOf({ edges }) {
    const held = [...edges].flatMap(([item, items]) => (typeof item === 'number' ? [...items] : []));
    const entrances = Object.entries(pieces).flatMap(([piece, { entered = [] }]) =>
        entered.flatMap((name) => {
            const methods = held.filter((func) => isNamed(func, name));
            if (methods.length === 0)
                throw new Failure(
                    `no virtual table has a method of ${name}; correct it in bridge/exports.js`,
                );
            return methods.map((method) => /** @type {const} */ ([method, piece]));
        }),
    );
    return new Map(entrances);
}

/** The exports of the runtime that only Emscripten's glue uses, which the pieces do without. */
const forGlue = /^_?emscripten_/;

/** @param {Text} program @returns {[name: string, func: string][]} */
const usedExports = ({ exports }) => [...exports].filter(([name]) => !forGlue.test(name));

/**
 * The piece to which each function and object belongs.
 *
 * @param {Text} program
 * @param {import('./program-graph.js').Graph} graph
 */
function pieceOfItems(program, graph) {
    const pieceOfExport = new Map(
        Object.entries(pieces).flatMap(([piece, { exports }]) => exports.map(({ name }) => [name, piece])),
    );
    /** @type {Map<string, Item[]>} */
    const roots = new Map(Object.keys(pieces).map((piece) => [piece, []]));
    for (const [name, func] of usedExports(program))
        roots.get(pieceOfExport.get(name) ?? primary)?.push(func);
    const entrances = entrancesOf(graph);
    for (const [method, piece] of entrances) roots.get(piece)?.push(method);
    const edges = new Map(
        [...graph.edges].map(([item, held]) => {
            const isOwn = (/** @type {Item} */ other) => typeof item === 'string' || !entrances.has(other);
            return [item, new Set([...held].filter(isOwn))];
        }),
    );
    const sets = new Map([...roots].map(([piece, items]) => [piece, reached(edges, items)]));
    return (/** @type {Item} */ item) => {
        const users = [...sets].filter(([, set]) => set.has(item)).map(([piece]) => piece);
        const [user = primary, ...others] = users;
        if (users.includes(primary)) return primary;
        if (others.length === 0) return user;
        return users.some((piece) => pieces[piece]?.alone) ? primary : shared;
    };
}

/** @param {Text} program @param {number} base @param {number} length */
function imageOf({ data }, base, length) {
    const image = new DataView(new ArrayBuffer(length));
    for (const { at, bytes } of data) new Uint8Array(image.buffer).set(bytes, at - base);
    return image;
}

/**
 * The static data of both links, as words.
 *
 * @param {Text} program
 * @param {Text} analysed
 * @throws {Failure} if they differ in anything but addresses and indices
 */
function imagesOf(program, analysed) {
    const [base = 0, otherBase = 0] = [program, analysed].map(({ data }) =>
        Math.min(...data.map(({ at }) => at)),
    );
    const shift = otherBase - base;
    const ends = [...program.data, ...analysed.data.map(({ at, bytes }) => ({ at: at - shift, bytes }))];
    const length = (Math.max(...ends.map(({ at, bytes }) => at + bytes.length)) - base + 3) & ~3;
    const [image, other] = [imageOf(program, base, length), imageOf(analysed, otherBase, length)];
    const shifts = [0, shift, analysed.tableBase - program.tableBase];
    const words = Array.from({ length: length / 4 }, (_, i) => 4 * i);
    const alike =
        [...program.functions.keys()].join() === [...analysed.functions.keys()].join() &&
        program.table.join() === analysed.table.join() &&
        words.every((at) => shifts.includes(other.getUint32(at, true) - image.getUint32(at, true)));
    if (!alike)
        throw new Failure(
            'tab.wasm and tab-analysis.wasm contain different programs: build wasm-single again',
        );
    return { base, shift, image, other };
}

/**
 * The functions of other pieces that each piece calls.
 *
 * @param {Text} program
 * @param {(item: Item) => string} pieceOf
 * @throws {Failure} if a piece calls a function of a piece that need not be loaded when the caller is
 */
function importsBetween({ functions }, pieceOf) {
    /** @type {Map<string, Set<string>>} */
    const imports = new Map(Object.keys(pieces).map((piece) => [piece, new Set()]));
    for (const [func, { calls }] of functions) {
        const piece = pieceOf(func);
        for (const callee of calls) {
            const other = pieceOf(callee);
            if (other === piece) continue;
            const loaded = pieces[piece]?.alone ? [primary] : [primary, shared];
            if (piece === primary || !loaded.includes(other))
                throw new Failure(`${piece} calls ${callee}, but ${other} need not be loaded then`);
            imports.get(piece)?.add(callee);
        }
    }
    return imports;
}

/**
 * The functions to which constants and static data refer by an index.
 *
 * @param {Text} analysed
 * @param {DataView} image its static data
 */
function pointedTo({ functions, table, tableBase }, image) {
    const words = Array.from({ length: image.byteLength / 4 }, (_, i) => image.getUint32(4 * i, true));
    const numbers = [...functions.values()].flatMap((func) => [...func.numbers]);
    return [...words, ...numbers].flatMap((number) => table[number - tableBase] ?? []);
}

/**
 * The functions of each piece, and which of them are in the table; both in the order in which they are written. In the
 * table, those that other pieces import are ordered by their types. Pieces import functions in the order of the table,
 * and a list of imports compresses better if functions of one type are neighbours.
 *
 * @param {Source} source
 * @param {(item: Item) => string} pieceOf
 * @param {Set<string>} imported the functions that other pieces import
 * @param {Set<string>} inTable
 */
const layoutOf = (source, pieceOf, imported, inTable) =>
    Object.keys(pieces).map((piece) => {
        const own = [...source.functions].filter(([func]) => pieceOf(func) === piece);
        const functions = orderFunctions(new Map(own));
        const ofHost = piece === primary ? importsOf(source) : [];
        const elements = [...ofHost, ...functions].filter((func) => inTable.has(func));
        const types = new Map([...imported].map((func) => [func, typeOf(source, func)]));
        const order = [...new Set(types.values())].sort();
        const rank = (/** @type {string} */ func) => order.indexOf(types.get(func) ?? '');
        return { piece, functions, elements: elements.sort((a, b) => rank(a) - rank(b)) };
    });

/**
 * The program with functions that compress better.
 *
 * @param {Source} source
 * @param {Set<string>} fixed functions whose type must stay
 * @returns {Source}
 */
function rewritten(source, fixed) {
    const functions = [...withoutReturnedObjects(source.functions, fixed)];
    return {
        ...source,
        functions: new Map(functions.map(([func, lines]) => [func, addressesWhereUsed(lines)])),
    };
}

/**
 * The program with the indices of a table, instead of those of the link.
 *
 * @param {FunctionTable} table
 * @param {Source} source
 * @param {Source} analysed
 * @returns {Source}
 */
function renumbered(table, source, analysed) {
    const functions = [...source.functions].map(
        ([func, lines]) =>
            /** @type {const} */ ([func, table.inFunction(lines, analysed.functions.get(func) ?? [])]),
    );
    return { ...source, functions: new Map(functions) };
}

/**
 * @param {string} text of the program
 * @param {string} analysis the text of the program that is linked for the analysis
 * @returns {{ piece: string, module: string }[]} the text of each piece
 */
function plan(text, analysis) {
    const [program, analysed] = [readProgram(text, Infinity), readProgram(analysis, leastReference)];
    const { base, shift, image, other } = imagesOf(program, analysed);
    const graph = graphOf(analysed);
    const pieceOf = pieceOfItems(analysed, graph);
    const owners = ownersOf(analysed, graph.objects, pieceOf, { primary, shared });
    const imports = importsBetween(program, pieceOf);
    const imported = new Set([...imports.values()].flatMap((funcs) => [...funcs]));
    const byIndex = pointedTo(analysed, other);
    const fixed = new Set([...byIndex, ...program.exports.values()]);
    const source = rewritten(readSource(text), fixed);
    const inTable = new Set([...byIndex, ...imported]);
    const layout = layoutOf(source, pieceOf, imported, inTable);
    const order = layout.flatMap(({ elements }) => elements);
    const table = new FunctionTable(program, analysed, order);
    const moved = renumbered(table, source, rewritten(readSource(analysis), fixed));
    const data = [{ at: base, bytes: table.inData(image, other) }];
    return layout.map(({ piece, ...own }) => {
        const isOwn = (/** @type {number} */ at) =>
            (owners.get(objectAt(graph.objects, at + shift)) ?? primary) === piece;
        const module = {
            ...own,
            imports: order.filter((func) => imports.get(piece)?.has(func)),
            exports: usedExports(program).filter(([, func]) => pieceOf(func) === piece),
            data: segmentsOf({ ...program, data }, isOwn),
        };
        return { piece, module: writePiece(moved, module, piece === primary, table) };
    });
}

/** @param {string} file */
const read = (file) => readFileSync(file, 'utf8');

/** A custom section that names the build (WebAssembly Core §5.5.3). @param {string} name @param {string} content */
function customSection(name, content) {
    const payload = Buffer.concat([Buffer.from([name.length]), Buffer.from(name + content)]);
    if (payload.length > 127) throw new Failure('the size of the section takes more than one byte');
    return Buffer.concat([Buffer.from([0, payload.length]), payload]);
}

/**
 * Writes build/wasm-single/pieces/<piece>.wasm, and <piece>.debug.wasm with the names of functions. Does nothing if
 * they were made from this program. Each piece contains the name of its build, which begins with that of the bridge.
 * Only pieces of one build fit together, since the split decides what a piece imports under which name.
 *
 * @param {import('./toolchain.js').Toolchain} tools
 */
export async function splitProgram(tools) {
    const program = join(folder, 'tab.wasm');
    const scripts = [
        'split-program',
        'function-order',
        'function-table',
        'late-addresses',
        'leb128',
        'local-counts',
        'piece-imports',
        'piece-text',
        'program-graph',
        'program-text',
        'returned-objects',
        'static-data',
        '../../bridge/exports',
    ];
    const sources = [
        ...scripts.map((script) => join(import.meta.dirname, `${script}.js`)),
        ...readdirSync(callsFolder)
            .sort()
            .map((name) => join(callsFolder, name)),
    ].map((file) => readFileSync(file));
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

/**
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string} program
 * @param {string} build
 */
async function split(tools, program, build) {
    const tool = (/** @type {string[]} */ ...[name = '', ...args]) =>
        run(tools.command(name, [...args, ...features]), log);
    // A variable that the compiler used for several values becomes several, so that most are assigned once
    // (scripts/lib/late-addresses.js).
    const toText = ['-g', '--ssa-nomerge', '-S', '-o'];
    await tool('wasm-opt', program, ...toText, file('program.wat'));
    await tool('wasm-opt', join(folder, 'tab-analysis.wasm'), ...toText, file('analysis.wat'));
    for (const { piece, module } of plan(read(file('program.wat')), read(file('analysis.wat')))) {
        writeFileSync(file(`${piece}.wat`), module);
        await tool('wasm-as', file(`${piece}.wat`), '-g', '-o', file(`${piece}.debug.wasm`));
        await tool(
            ...['wasm-opt', file(`${piece}.debug.wasm`), '-o', file(`${piece}.wasm`)],
            ...shrinking,
            ...['--strip-debug', '--remove-unused-module-elements'],
        );
        for (const form of ['wasm', 'debug.wasm']) {
            const bytes = roundLocalCounts(nameByDistance(readFileSync(file(`${piece}.${form}`))));
            writeFileSync(file(`${piece}.${form}`), bytes);
            appendFileSync(file(`${piece}.${form}`), customSection('build', build));
        }
    }
}
