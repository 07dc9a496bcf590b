/** The order of a program's functions, which scripts/lib/function-order.js chooses so that they compress well. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderFunctions } from '../../scripts/lib/function-order.js';

/** @param {string} name @param {string[]} instructions @returns {[name: string, lines: string[]]} */
const func = (name, instructions) => [
    name,
    [` (func $${name} (type $0) (param $0 i32)`, ...instructions.map((one) => `  ${one}`), ' )'],
];

const loads = ['(i32.load offset=4', '(i32.load offset=8', '(i32.load offset=12', '(local.get $0)', ')))'];
const stores = ['(i64.store offset=4', '(local.get $0)', '(i64.const 7)', '(f64.const 1)', ')'];

test('functions that are alike become neighbours', () => {
    // So many others that calls are not what the order is by.
    const called = Array.from({ length: 64 }, (_, i) => func(`f${i}`, Array(8).fill(`(call $f${i})`)));
    const others = ['load1', 'store1', 'load2', 'store2', 'load3'].map((name) =>
        func(name, name.startsWith('load') ? loads : [...stores, '(nop)']),
    );
    const order = orderFunctions(new Map([...others, ...called]));
    assert.deepEqual(order.slice(64), ['load1', 'load2', 'load3', 'store1', 'store2']);
});

test('the functions that are called most come first', () => {
    const rare = func('rare', ['(call $often)', '(call $often)', '(call $seldom)']);
    const functions = new Map([rare, func('seldom', ['(nop)']), func('often', ['(unreachable)'])]);
    assert.deepEqual(orderFunctions(functions), ['often', 'seldom', 'rare']);
});

test('every function stays', () => {
    const quoted = '"a\\20b::c\\28int\\29"';
    const functions = new Map([func('x', stores), func(quoted, loads), func('y', [])]);
    assert.deepEqual(orderFunctions(functions).sort(), [quoted, 'x', 'y']);
    assert.deepEqual(orderFunctions(new Map()), []);
});
