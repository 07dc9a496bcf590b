/** How the functions of a tab's program are rewritten such that its pieces compress better. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesWhereUsed } from '../../scripts/lib/late-addresses.js';
import { roundLocalCounts } from '../../scripts/lib/local-counts.js';
import { withoutReturnedObjects } from '../../scripts/lib/returned-objects.js';

/** The lines of a text of a function, which begins with an indentation of one space. @param {string} text */
const linesOf = (text) => text.split('\n').filter((line) => line.trim() !== '');

/** An assignment of the address at a distance from a variable. @param {string} indent */
const assigned = (indent, variable = '$1', base = '$0') => `
${indent}(local.set ${variable}
${indent} (i32.add
${indent}  (local.get ${base})
${indent}  (i32.const 40)
${indent} )
${indent})`;

test('an address that is assigned once is computed where it is used', () => {
    const before = ` (func $f (param $0 i32)
  (local $1 i32)${assigned('  ')}
  (loop $label
   (call $g
    (local.get $1)
   )
  )
 )`;
    assert.deepEqual(
        addressesWhereUsed(linesOf(before)),
        linesOf(` (func $f (param $0 i32)
  (local $1 i32)
  (loop $label
   (call $g
    (i32.add
     (local.get $0)
     (i32.const 40)
    )
   )
  )
 )`),
    );
});

test('an address is computed from a variable that is assigned once, and where it is assigned, too', () => {
    const before = ` (func $f (param $0 i32)
  (local.set $1
   (global.get $__stack_pointer)
  )
  (call $g
   (local.tee $2
    (i32.sub
     (local.get $1)
     (i32.const -64)
    )
   )
  )
  (local.set $3
   (i32.add
    (local.get $2)
    (i32.const 8)
   )
  )
  (call $g
   (local.get $3)
  )
 )`;
    assert.deepEqual(
        addressesWhereUsed(linesOf(before))
            .map((line) => line.trim())
            .join(' '),
        [
            '(func $f (param $0 i32) (local.set $1 (global.get $__stack_pointer) )',
            '(call $g (i32.sub (local.get $1) (i32.const -64) ) )',
            '(call $g (i32.add (i32.sub (local.get $1) (i32.const -64) ) (i32.const 8) ) ) )',
        ].join(' '),
    );
});

test('a variable stays if it may be read before it is assigned, or if what it is computed from changes', () => {
    const use = `
  (call $g
   (local.get $1)
  )
 )`;
    const head = ` (func $f (param $0 i32)`;
    const kept = {
        'in an arm of an if': `${head}
  (if
   (local.get $0)
   (then${assigned('    ')}
   )
  )${use}`,
        'behind a branch out of its block': `${head}
  (block $block
   (br_if $block
    (local.get $0)
   )${assigned('   ')}
  )${use}`,
        'behind a branch that ends an arm': `${head}
  (block $block
   (if
    (local.get $0)
    (then
     (br $block)
    )
   )${assigned('   ')}
  )${use}`,
        'before its assignment in a loop': `${head}
  (loop $label
   (call $g
    (local.get $1)
   )${assigned('   ')}
   (br $label)
  )
 )`,
        'assigned twice': `${head}${assigned('  ')}${assigned('  ')}${use}`,
        'from a parameter that is assigned': `${head}${assigned('  ')}
  (local.set $0
   (i32.const 0)
  )${use}`,
        'before its variable is assigned, by an operand of that': `${head}
  (local.set $2
   (call $g
    (local.tee $1
     (i32.add
      (local.get $2)
      (i32.const 1)
     )
    )
   )
  )${use}`,
        'from a variable that is not assigned': `${head}${assigned('  ', '$1', '$2')}${use}`,
    };
    for (const [why, text] of Object.entries(kept))
        assert.deepEqual(addressesWhereUsed(linesOf(text)), linesOf(text), why);
    const left = kept['behind a branch out of its block']
        .replaceAll('$block', '$other')
        .replace('(br_if $other', '(br_if $block');
    assert.notDeepEqual(addressesWhereUsed(linesOf(left)), linesOf(left), 'the branch leaves another block');
});

/** A function that returns its first parameter, and one that returns what that function returns. */
const destructors = {
    base: ` (func $base (param $0 i32) (result i32)
  (local.get $0)
 )`,
    derived: ` (func $derived (param $0 i32) (result i32)
  (call $base
   (local.get $0)
  )
 )`,
};

/** @param {Record<string, string>} functions @param {string[]} [fixed] @returns {Record<string, string>} */
const rewritten = (functions, fixed = []) => {
    const read = new Map(Object.entries(functions).map(([name, text]) => [name, linesOf(text)]));
    const written = withoutReturnedObjects(read, new Set(fixed));
    return Object.fromEntries([...written].map(([name, lines]) => [name, lines.join('\n')]));
};

test('a function that returns its first parameter returns nothing, and its callers use the address', () => {
    const user = ` (func $user (param $0 i32) (result i32)
  (local $1 i32)
  (drop
   (call $base
    (local.get $0)
   )
  )
  (local.set $1
   (call $derived
    (i32.add
     (local.get $0)
     (i32.const 8)
    )
   )
  )
  (call $base
   (call $g
    (local.get $1)
   )
  )
 )`;
    const { base, derived, ...others } = rewritten({ ...destructors, user });
    assert.equal(base?.split('\n')[0], ' (func $base (param $0 i32)');
    assert.equal(derived?.split('\n')[0], ' (func $derived (param $0 i32)');
    assert.equal(
        others['user'],
        ` (func $user (param $0 i32) (result i32)
  (local $object0 i32)
  (local $1 i32)
  (call $base
   (local.get $0)
  )
  (call $derived
   (i32.add
    (local.get $0)
    (i32.const 8)
   )
  )
  (local.set $1
   (i32.add
    (local.get $0)
    (i32.const 8)
   )
  )
  (block (result i32)
   (call $base
    (local.tee $object0
     (call $g
      (local.get $1)
     )
    )
   )
   (local.get $object0)
  )
 )`,
    );
});

test('a function that assigns or returns its first parameter itself returns nothing, either', () => {
    const some = ` (func $some (param $0 i32) (result i32)
  (if
   (i32.load
    (local.tee $0
     (call $base
      (local.get $0)
     )
    )
   )
   (then
    (return
     (local.get $0)
    )
   )
  )
  (local.get $0)
 )`;
    assert.equal(
        rewritten({ ...destructors, some })['some'],
        ` (func $some (param $0 i32)
  (if
   (i32.load
    (block (result i32)
     (call $base
      (local.get $0)
     )
     (local.get $0)
    )
   )
   (then
    (block
     (drop
      (local.get $0)
     )
     (return)
    )
   )
  )
  (drop
   (local.get $0)
  )
 )`,
    );
});

test('a function keeps its result if it is called by its index, assigns its parameter, or returns early', () => {
    const early = ` (func $early (param $0 i32) (result i32)
  (if
   (local.get $0)
   (then
    (return
     (i32.const 1)
    )
   )
  )
  (local.get $0)
 )`;
    const other = ` (func $other (param $0 i32) (result i32)
  (local.set $0
   (i32.const 1)
  )
  (local.get $0)
 )`;
    const { base, derived } = destructors;
    assert.deepEqual(rewritten({ base, derived, early, other }, ['base']), { base, derived, early, other });
});

test('an address is kept in a variable if an argument of the call assigns what it is computed from', () => {
    const two = ` (func $two (param $0 i32) (param $1 i32) (result i32)
  (local.get $0)
 )`;
    const user = ` (func $user (param $0 i32) (result i32)
  (call $two
   (local.get $0)
   (local.tee $0
    (i32.const 1)
   )
  )
 )`;
    assert.match(
        rewritten({ two, user })['user'] ?? '',
        /tee \$object0\n +\(local\.get \$0\)[^]*get \$object0/,
    );
});

test('a function declares one of a few numbers of local variables, as many as before or more', () => {
    /** A module with functions that declare these groups of variables. @param {[count: number, type: number][][]} functions */
    const module = (...functions) => {
        const bodies = functions.flatMap((groups) => {
            const body = [groups.length, ...groups.flat(), 0x0b];
            return [body.length, ...body];
        });
        const code = [functions.length, ...bodies];
        const types = [1, 4, 1, 0x60, 0, 0];
        const declared = [3, functions.length + 1, functions.length, ...functions.map(() => 0)];
        return Buffer.from([
            0,
            0x61,
            0x73,
            0x6d,
            1,
            0,
            0,
            0,
            ...types,
            ...declared,
            10,
            code.length,
            ...code,
        ]);
    };
    const [i32, i64] = [0x7f, 0x7e];
    const before = module([], [[1, i32]], [[6, i32]], [[9, i32]], [[70, i32]], [[3, i32], [2, i64]]); // prettier-ignore
    const after = module([], [[6, i32]], [[6, i32]], [[20, i32]], [[70, i32]], [[3, i32], [6, i64]]); // prettier-ignore
    const rounded = roundLocalCounts(before);
    assert.deepEqual(rounded, after);
    assert.ok(WebAssembly.validate(rounded));
});
