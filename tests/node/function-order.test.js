/** The order of a program's functions. scripts/lib/function-order.js chooses it so that they compress well. */

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
    const others = ['load1', 'store1', 'load2', 'store2', 'load3'].map((name) =>
        func(name, name.startsWith('load') ? loads : [...stores, '(nop)']),
    );
    const order = orderFunctions(new Map(others));
    assert.deepEqual(order, ['load1', 'load2', 'load3', 'store1', 'store2']);
});

test('the shortest function comes first', () => {
    const long = func('long', [...loads, ...loads]);
    const functions = new Map([func('middle', loads), long, func('short', ['(nop)', '(nop)'])]);
    assert.deepEqual(orderFunctions(functions), ['short', 'middle', 'long']);
});

test('the order contains every function', () => {
    const quoted = '"a\\20b::c\\28int\\29"';
    const functions = new Map([func('x', stores), func(quoted, loads), func('y', [])]);
    assert.deepEqual(orderFunctions(functions).sort(), [quoted, 'x', 'y']);
    assert.deepEqual(orderFunctions(new Map()), []);
});
