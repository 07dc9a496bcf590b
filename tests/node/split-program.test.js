/** How the program of a tab is split into pieces. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces } from '../../bridge/exports.js';
import { Program } from '../../js/core/program.js';
import { renameExports } from '../../scripts/lib/module-names.js';
import { graphOf, objectAt, reached } from '../../scripts/lib/program-graph.js';
import { readProgram } from '../../scripts/lib/program-text.js';
import { ownersOf, segmentsOf } from '../../scripts/lib/static-data.js';
import { wasmOf } from './program.js';

/** @typedef {import('../../js/core/program.js').PieceName} PieceName */

const names = /** @type {PieceName[]} */ (Object.keys(pieces));

const table = 2 ** 24;
const data = 2 ** 28;

/** The graph of a module with a table of three functions, and the data that are given. @param {string[]} lines */
const graph = (...lines) =>
    graphOf(
        readProgram([`(module`, ` (elem $0 (i32.const ${table}) $a $b $c)`, ...lines, ')'].join('\n'), table),
    );

test('a function refers to what it calls, to functions of the table, and to objects by their addresses', () => {
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
        // A subtracted address, and a view of a text: its address and its length in one number.
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
    assert.deepEqual(
        reached(edges, [data + 4], (item) => item === 'c'),
        new Set([data + 4, 'c']),
        'what an item that stops refers to is left out',
    );
});

test('a text leaves with those that refer to it and to its end; a virtual table with its users; all else stays', () => {
    const program = readProgram(
        [
            '(module',
            ` (elem $0 (i32.const ${table}) $a $b)`,
            // Two numbers, "locks/" in which "/" begins, "é", and a virtual table.
            ` (data $d (i32.const ${data}) "\\01\\00\\00\\00\\02\\00\\00\\00locks/\\00\\c3\\a9\\00\\00\\00\\00\\00\\00")`,
            ` (data $v (i32.const ${data + 32}) "\\00\\00\\00\\00\\00\\00\\00\\00\\01\\00\\00\\01")`,
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

test('segments hold what is their own, and no zero of another owner', () => {
    const bytes = Uint8Array.from([1, 0, 0, 2, 9, 0, 3, ...Array(12).fill(0), 4]);
    const program = { ...readProgram('(module\n)', 0), data: [{ at: 100, bytes }] };
    const isOwn = (/** @type {number} */ at) => at !== 104 && at !== 105;
    assert.deepEqual(segmentsOf(program, isOwn), [
        ' (data (i32.const 100) "\\01\\00\\00\\02")',
        ' (data (i32.const 106) "\\03")',
        ' (data (i32.const 119) "\\04")',
    ]);
    assert.deepEqual(
        segmentsOf(program, (at) => !isOwn(at)),
        [' (data (i32.const 104) "\\09")'],
    );
});

test('exports for other modules are named in the order of the functions; the own ones stay', () => {
    const primary = [
        '(module',
        ' (export "tab_new" (func $b))',
        ' (export "%z" (func $b))',
        ' (export "%a" (global $g))',
        ' (export "%m" (func $a))',
        ' (func $a',
        ' )',
        ' (func $b',
        ' )',
        ')',
    ];
    const secondary = [
        '(module',
        ' (import "primary" "memory" (memory $0 16))',
        ' (import "primary" "%z" (func $b))',
        ' (import "primary" "%m" (func $a))',
        ')',
    ];
    const [first = '', second = ''] = renameExports([primary.join('\n'), secondary.join('\n')]);
    assert.deepEqual(first.split('\n').slice(1, 5), [
        ' (export "tab_new" (func $b))',
        ' (export "00" (global $g))',
        ' (export "01" (func $a))',
        ' (export "02" (func $b))',
    ]);
    assert.deepEqual(second.split('\n').slice(1, 4), [
        ' (import "primary" "memory" (memory $0 16))',
        ' (import "primary" "01" (func $a))',
        ' (import "primary" "02" (func $b))',
    ]);
});

test('the pieces fill the table between them, each only what is its own', async () => {
    const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    const functions = /** @type {WebAssembly.Table} */ (
        /** @type {any} */ (program.glue).___indirect_function_table
    );
    const filled = () => Array.from({ length: functions.length }, (_, i) => functions.get(i));
    let before = filled();
    // One function stands where those of pieces will be that are not loaded: the one in the most places.
    const places = (/** @type {unknown} */ func) => before.filter((one) => one === func).length;
    const [standsIn] = [...before].sort((a, b) => places(b) - places(a));
    for (const name of names.slice(1)) {
        await program.add(name, await WebAssembly.compile(wasmOf(name)));
        const after = filled();
        const changed = before.filter((func, i) => func !== after[i]);
        assert.ok(changed.length > 0, `${name} has functions in the table`);
        assert.deepEqual(new Set(changed), new Set([standsIn]), `${name} replaces nobody else's`);
        before = after;
    }
    assert.ok(!before.includes(standsIn));
});

test('each piece exports what bridge/exports.js describes, and nothing is in two', async () => {
    for (const name of names) {
        const exported = WebAssembly.Module.exports(await WebAssembly.compile(wasmOf(name)));
        const described = (pieces[name]?.exports ?? []).map((call) => call.name);
        const own = exported.map((one) => one.name).filter((one) => described.includes(one));
        assert.deepEqual(own.sort(), described.sort(), name);
        if (name !== 'counters') assert.equal(exported.length, described.length, name);
    }
});

test('pieces of two builds do not meet: the error names both', async () => {
    const program = await Program.start(await WebAssembly.compile(wasmOf('counters')));
    const other = new Uint8Array(wasmOf('locks'));
    other[other.length - 1] = other[other.length - 1] === 0x30 ? 0x31 : 0x30; // the last letter of the build, in the section at the end
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
