/** The order of a program's functions, which scripts/lib/function-order.js chooses so that they compress well. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderFunctions } from '../../scripts/lib/function-order.js';

const head = '(module\n (type $0 (func (param i32)))\n (import "p" "a" (func $imported (type $0)))';
const tail = ' (export "e" (func $f0))\n)';

/** @param {string} name @param {string[]} instructions */
const func = (name, instructions) =>
    [` (func $${name} (type $0) (param $0 i32)`, ...instructions.map((one) => `  ${one}`), ' )'].join('\n');

/** @param {string} text */
const names = (text) => [...text.matchAll(/^ \(func \$(\S+)/gm)].map(([, name]) => name);

const loads = ['(i32.load offset=4', '(i32.load offset=8', '(i32.load offset=12', '(local.get $0)', ')))'];
const stores = ['(i64.store offset=4', '(local.get $0)', '(i64.const 7)', '(f64.const 1)', ')'];

test('functions that are alike become neighbours', () => {
    // So many others that calls are not what the order is by.
    const called = Array.from({ length: 64 }, (_, i) => func(`f${i}`, Array(8).fill(`(call $f${i})`)));
    const others = ['load1', 'store1', 'load2', 'store2', 'load3'].map((name) =>
        func(name, name.startsWith('load') ? loads : [...stores, '(nop)']),
    );
    const order = names(orderFunctions([head, ...others, ...called, tail].join('\n')));
    assert.deepEqual(order.slice(64), ['load1', 'load2', 'load3', 'store1', 'store2']);
});

test('the functions that are called most come first', () => {
    const rare = func('rare', ['(call $often)', '(call $often)', '(call $seldom)']);
    const text = [head, rare, func('seldom', ['(nop)']), func('often', ['(unreachable)']), tail].join('\n');
    assert.deepEqual(names(orderFunctions(text)), ['often', 'seldom', 'rare']);
});

test('every line of the program stays, and each function in one piece', () => {
    const quoted = '"a\\20b::c\\28int\\29"';
    const text = [head, func('x', stores), func(quoted, loads), func('y', []), tail].join('\n');
    const ordered = orderFunctions(text);
    assert.deepEqual(ordered.split('\n').sort(), text.split('\n').sort());
    for (const one of [func('x', stores), func(quoted, loads), func('y', []), head, tail])
        assert.ok(ordered.includes(one));
});

test('a program without functions stays as it is', () => {
    assert.equal(orderFunctions(`${head}\n${tail}`), `${head}\n${tail}`);
});
