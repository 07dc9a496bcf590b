/** How the program of a tab is split into pieces. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces } from '../../bridge/exports.js';
import { Program } from '../../js/core/program.js';
import { Failure } from '../../scripts/lib/failure.js';
import { FunctionTable } from '../../scripts/lib/function-table.js';
import { nameByDistance } from '../../scripts/lib/piece-imports.js';
import { readSource, writePiece } from '../../scripts/lib/piece-text.js';
import { graphOf, objectAt, reached } from '../../scripts/lib/program-graph.js';
import { readProgram } from '../../scripts/lib/program-text.js';
import { ownersOf, segmentsOf } from '../../scripts/lib/static-data.js';
import { wasmOf } from './program.js';

/** @typedef {import('../../js/core/program.js').PieceName} PieceName */

const names = /** @type {PieceName[]} */ (Object.keys(pieces));

const table = 2 ** 24;
const data = 2 ** 28;

/** The graph of a module that has a table of three functions and these lines. @param {string[]} lines */
const graph = (...lines) =>
    graphOf(
        readProgram([`(module`, ` (elem $0 (i32.const ${table}) $a $b $c)`, ...lines, ')'].join('\n'), table),
    );

test('a function refers to the functions that it calls or names by their index, and to objects by their addresses', () => {
    const { edges, objects } = graph(
        ` (data $d (i32.const ${data}) "\\00\\00\\00\\00\\02\\00\\00\\01text\\00")`,
        ` (func $a`,
        `  (call $b)`,
        `  (i32.load offset=${data + 4} (local.get $0))`,
        ` )`,
        ` (func $b`,
        `  (return_call $c (i32.const ${table + 1}))`,
        ` )`,
        ` (func $c`,
        // The numbers are a subtracted address, and a view of a text: its address and its length in one number.
        `  (i32.add (i32.const -${data}))`,
        `  (i64.const ${(4n << 32n) | BigInt(data + 8)})`,
        ` )`,
    );
    assert.deepEqual(objects, [data, data + 4, data + 8]);
    assert.deepEqual(edges.get('a'), new Set(['b', data + 4]));
    assert.deepEqual(edges.get('b'), new Set(['c', 'b']));
    assert.deepEqual(edges.get('c'), new Set([data, data + 8]));
    assert.deepEqual(edges.get(data + 4), new Set(['c']), 'the object holds the index of a function');
    assert.equal(objectAt(objects, data + 7), data + 4);
    assert.deepEqual(reached(edges, ['b']), new Set(['b', 'c', data, data + 8]));
});

test('texts and virtual tables move to the piece of their users, and all other data stay in the first piece', () => {
    const program = readProgram(
        [
            '(module',
            ` (elem $0 (i32.const ${table}) $a $b)`,
            // Two numbers, the text "locks/" with the text "/" at its end, "é", and a virtual table with an
            // unused entry.
            ` (data $d (i32.const ${data}) "\\01\\00\\00\\00\\02\\00\\00\\00locks/\\00\\c3\\a9\\00\\00\\00\\00\\00\\00")`,
            ` (data $v (i32.const ${data + 32}) "\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\01\\00\\00\\01")`,
            ')',
        ].join('\n'),
        table,
    );
    const [number, text, end, letter, virtual] = [0, 8, 13, 15, 40].map((at) => data + at);
    const objects = /** @type {number[]} */ ([number, text, end, letter, virtual]);
    const owners = (/** @type {Record<number, string>} */ users) => {
        const of = ownersOf(program, objects, (object) => users[object - data] ?? 'queue', {
            primary: 'counters',
            shared: 'locks',
        });
        return objects.map((object) => of.get(object));
    };
    assert.deepEqual(owners({}), ['counters', 'queue', 'queue', 'queue', 'queue']);
    assert.deepEqual(owners({ 13: 'limits' }), ['counters', 'locks', 'locks', 'queue', 'queue']);
    assert.deepEqual(owners({ 13: 'counters' }), ['counters', 'counters', 'counters', 'queue', 'queue']);
});

test('segments hold the bytes of their owner, and no zeros of another', () => {
    const bytes = Uint8Array.from([1, 0, 0, 2, 9, 0, 3, ...Array(60).fill(0), 4]);
    const program = { ...readProgram('(module\n)', 0), data: [{ at: 100, bytes }] };
    const isOwn = (/** @type {number} */ at) => at !== 104 && at !== 105;
    assert.deepEqual(segmentsOf(program, isOwn), [
        ' (data (i32.const 100) "\\01\\00\\00\\02")',
        ' (data (i32.const 106) "\\03")',
        ' (data (i32.const 167) "\\04")',
    ]);
    assert.deepEqual(
        segmentsOf(program, (at) => !isOwn(at)),
        [' (data (i32.const 104) "\\09")'],
    );
});

/**
 * Two links of a program with a table of $a and $b: one whose indices begin at 1, and one where they begin at
 * `table`.
 */
const [linked, analysed] = [1, table].map((base) =>
    readProgram(`(module\n (elem $0 (i32.const ${base}) $a $b)\n)`, Infinity),
);

/** @param {string[]} order */
const tableOf = (...order) =>
    new FunctionTable(/** @type {any} */ (linked), /** @type {any} */ (analysed), order);

test('constants that are indices follow the order of the table, and others stay', () => {
    const moved = tableOf('b', 'a').inFunction(
        [' (func $f', '  (call $g', '   (i32.const 1)', '   (i32.const 2)', '   (i32.const 2)', '  )', ' )'],
        [
            ' (func $f',
            '  (call $g',
            `   (i32.const ${table})`,
            `   (i32.const ${table + 1})`,
            '   (i32.const 2)',
            '  )',
            ' )',
        ],
    );
    assert.deepEqual(moved.slice(2, 5), ['   (i32.const 2)', '   (i32.const 1)', '   (i32.const 2)']);
});

test('both halves of a wide constant may be indices', () => {
    const wide = (/** @type {number} */ low, /** @type {number} */ high) =>
        `  (i64.const ${(BigInt(high) << 32n) | BigInt(low)})`;
    const move = (/** @type {string} */ line, /** @type {string} */ other) =>
        tableOf('b', 'a').inFunction([line], [other])[0];
    assert.equal(move(wide(1, 2), wide(table, table + 1)), wide(2, 1));
    assert.equal(move(wide(7, 2), wide(7, table + 1)), wide(7, 1));
});

test('words of static data that are indices follow the order of the table', () => {
    const words = (/** @type {number[]} */ ...list) => new DataView(Uint32Array.from(list).buffer);
    const moved = tableOf('b', 'a').inData(words(1, 1, 2), words(1, table, table + 1));
    assert.deepEqual(moved, new Uint8Array(words(1, 2, 1).buffer));
});

test('a function that computes with an index fails the build, and so does a function that is in no table', () => {
    const line = (/** @type {number} */ n) => [' (func $f', '  (i32.add', `   (i32.const ${n})`, '  )', ' )'];
    assert.throws(() => tableOf('b', 'a').inFunction(line(1), line(table)), Failure);
    assert.throws(
        () => tableOf('a', 'b').inFunction(line(1), line(table)),
        Failure,
        'a computation fails also where the index stays the same',
    );
    assert.throws(() => tableOf('b').indexOf('a'), Failure);
});

test('a piece imports functions of other pieces by their index in the table', () => {
    const source = readSource(
        [
            '(module $tab.wasm',
            ' (type $0 (func (param i32)))',
            ' (import "env" "host" (func $host (param f64)))',
            ' (global $__stack_pointer (mut i32) (i32.const 64))',
            ' (memory $0 16)',
            ' (func $a (param $0 i32) (param $1 i64) (result i32)',
            '  (local.get $0)',
            ' )',
            ' (func $b',
            '  (call $host)',
            ' )',
            ')',
        ].join('\n'),
    );
    const table = tableOf('host', 'a', 'b');
    const own = { functions: ['a'], imports: [], elements: ['host', 'a'], exports: [], data: [] };
    const other = { ...own, functions: ['b'], imports: ['host', 'a'], elements: ['b'] };
    const first = writePiece(source, own, true, table).split('\n');
    const second = writePiece(source, other, false, table).split('\n');
    for (const line of [
        ' (elem $0 (i32.const 1) $host $a)',
        ' (memory $0 16)',
        ' (export "memory" (memory $0))',
    ])
        assert.ok(first.includes(line), line);
    assert.deepEqual(second.slice(2), [
        ' (import "primary" "memory" (memory $0 16))',
        ' (import "primary" "table" (table $0 4 4 funcref))',
        ' (import "primary" "__stack_pointer" (global $__stack_pointer (mut i32)))',
        ' (import "functions" "1" (func $host (param f64)))',
        ' (import "functions" "2" (func $a (param i32) (param i64) (result i32)))',
        ' (elem $0 (i32.const 3) $b)',
        ' (func $b',
        '  (call $host)',
        ' )',
        ')',
        '',
    ]);
});

test('in the binary, each imported function is named by the distance from the index of the one before it', () => {
    /** A module that imports functions without parameters. @param {[module: string, name: string][]} imports */
    const importing = (imports) => {
        const text = (/** @type {string} */ value) => [value.length, ...Buffer.from(value)];
        const entries = imports.flatMap(([module, name]) => [...text(module), ...text(name), 0, 0]);
        const types = [1, 4, 1, 0x60, 0, 0];
        const module = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types];
        const section = [imports.length, ...entries];
        return Buffer.from([...module, 2, section.length, ...section, 0, 3, 1, 0x61, 0x62]);
    };
    /** @type {[module: string, name: string][]} */
    const others = [['primary', 'memory']];
    assert.deepEqual(
        nameByDistance(importing([['functions', '3'], ['functions', '17'], ['functions', '18'], ...others])),
        importing([['f', '3'], ['f', '14'], ['f', '1'], ...others]),
    );
    assert.deepEqual(
        nameByDistance(importing(others)),
        importing(others),
        'the first piece has no such imports',
    );
});

test('a piece gets the functions that it imports, in the order of the table', async () => {
    const module = await WebAssembly.compile(wasmOf('queue'));
    const distances = WebAssembly.Module.imports(module)
        .filter((one) => one.module === 'f')
        .map(({ name }) => Number(name));
    const ascend = distances.every((distance) => distance > 0);
    assert.ok(distances.length > 100 && ascend, 'no function is imported twice, and none is out of order');
});

test('the pieces together fill the table, and each sets only its own functions', async () => {
    const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    const functions = /** @type {WebAssembly.Table} */ (/** @type {any} */ (program.glue).table);
    const filled = () => Array.from({ length: functions.length }, (_, i) => functions.get(i));
    let before = filled();
    for (const name of names.slice(1)) {
        await program.add(name, await WebAssembly.compile(wasmOf(name)));
        const after = filled();
        const changed = before.filter((func, i) => func !== after[i]);
        assert.ok(changed.length > 0, `${name} has functions in the table`);
        assert.deepEqual(new Set(changed), new Set([null]), `${name} replaces no function of another piece`);
        before = after;
    }
    assert.deepEqual(before.indexOf(null), 0);
    assert.deepEqual(before.lastIndexOf(null), 0, 'no function has the index 0, which is the null pointer');
});

test('a piece that is loaded alone needs the counters and no other piece', async () => {
    const alone = names.filter((name) => pieces[name]?.alone);
    assert.deepEqual(alone, ['gather', 'transfer', 'storage']);
    for (const name of alone) {
        const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
        await program.add(name, await WebAssembly.compile(wasmOf(name)));
    }
});

test('each piece exports the functions that bridge/exports.js describes, and no function is in two pieces', async () => {
    for (const name of names) {
        const exported = WebAssembly.Module.exports(await WebAssembly.compile(wasmOf(name)));
        const described = (pieces[name]?.exports ?? []).map((call) => call.name);
        const own = exported.map((one) => one.name).filter((one) => described.includes(one));
        assert.deepEqual(own.sort(), described.sort(), name);
        if (name !== 'counters') assert.equal(exported.length, described.length, name);
    }
});

test('a piece of another build is refused by an error that names both builds', async () => {
    const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    const other = new Uint8Array(wasmOf('locks'));
    // The module ends with the name of the build, so this changes its last letter.
    other[other.length - 1] = other[other.length - 1] === 0x30 ? 0x31 : 0x30;
    const build = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes.subarray(-8)).toString();
    await assert.rejects(
        program.add('locks', await WebAssembly.compile(other)),
        (/** @type {any} */ error) => {
            assert.equal(error.code, 'version-mismatch');
            assert.ok(
                error.message.includes(build(other)) && error.message.includes(build(wasmOf('counters'))),
            );
            return true;
        },
    );
});
