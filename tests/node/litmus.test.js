/** How litmus programs are read, and how the outcomes that were seen are judged. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasAll, isSound, judge, markdown, outcomeOf, report, countOutcomes } from '../litmus/outcomes.js';
import { ALLOWED, parsePrograms, PROGRAMS } from '../litmus/programs.js';

const TEXT = `# a comment
program sb
What it asks.
init x 0 y 0
tab set x 1; get y a
tab  set y 1;get x b; order _o
finally x
events y
forbid a=1 b=1
`;

const [program = assert.fail()] = parsePrograms(TEXT);

/** @param {string} a @param {string} b @returns {import('../litmus/outcomes.js').Witness[]} */
const round = (a, b) => [
    { registers: { a }, finally: ['1'], events: ['1'] },
    { registers: { b, _o: 'y+x' }, finally: ['1'], events: ['-'] },
];

test('parsing a program gives its question, threads and outcomes', () => {
    assert.deepEqual(program, {
        name: 'sb',
        asks: 'What it asks.',
        init: [
            ['x', '0'],
            ['y', '0'],
        ],
        tabs: [
            [
                ['set', 'x', '1'],
                ['get', 'y', 'a'],
            ],
            [
                ['set', 'y', '1'],
                ['get', 'x', 'b'],
                ['order', '_o'],
            ],
        ],
        finally: ['x'],
        events: ['y'],
        forbidden: [['a=1', 'b=1']],
    });
    assert.throws(() => parsePrograms('program p\nasks\nthread set x 1'), /thread set x 1/);
});

test('an outcome names the registers in order, then the values that all tabs have, then the events that they received', () => {
    assert.equal(outcomeOf(program, round('-', '1')), 'a=- b=1 x=1|1 y:1|-');
});

test('seen outcomes are counted, and judged by the lists of allowed and of forbidden ones', () => {
    const rounds = [round('-', '1'), round('-', '1'), round('1', '1')];
    const witnesses = [0, 1].map((tab) => rounds.map((tabs) => tabs[tab] ?? assert.fail()));
    const seen = countOutcomes(program, witnesses);
    const allowed = ['a=- b=1 x=1|1 y:1|-', 'a=1 b=- x=1|1 y:1|-'];
    const judged = judge(program, seen, allowed);
    assert.equal(judged.rounds, 3);
    assert.deepEqual(
        judged.allowed.map(({ times }) => times),
        [2, 0],
    );
    assert.deepEqual(judged.strangers, [{ outcome: 'a=1 b=1 x=1|1 y:1|-', times: 1 }]);
    assert.deepEqual(judged.forbidden, [{ parts: 'a=1 b=1', seen: true }]);
    assert.equal(isSound(judged), false);
    assert.match(report(judged), /NOT ALLOWED +1 × {2}a=1 b=1/);
    const good = judge(program, new Map([[allowed[0] ?? '', 5]]), allowed);
    assert.equal(isSound(good), true);
    assert.match(markdown([good]), /\| \*\*sb\*\* \(5\)<br>What it asks. \| `a=- b=1 x=1\/1 y:1\/-` 5 \|/);
});

test('every program has the outcomes that the model allows, and names only existing registers', () => {
    assert.deepEqual(Object.keys(ALLOWED), ['sent', 'dropped']);
    for (const allowed of Object.values(ALLOWED)) {
        assert.deepEqual(
            Object.keys(allowed),
            PROGRAMS.map(({ name }) => name),
        );
    }
    const allowed = ALLOWED.sent;
    for (const { name, tabs, forbidden, finally: keys, events } of PROGRAMS) {
        const parts = new Set((allowed[name] ?? []).flatMap((outcome) => outcome.split(' ').map(nameOf)));
        assert.ok((allowed[name] ?? []).length > 0 && tabs.length >= 2, name);
        for (const key of [...keys.map((key) => `${key}=`), ...events.map((key) => `${key}:`)]) {
            assert.ok(parts.has(key), `${name}: ${key}`);
        }
        // A forbidden outcome with a misspelt register could never be seen.
        for (const part of forbidden.flat()) assert.ok(parts.has(nameOf(part)), `${name} forbids ${part}`);
    }
});

test('the model allows nothing that a program forbids', () => {
    for (const { name, forbidden } of PROGRAMS) {
        for (const outcome of [...(ALLOWED.sent[name] ?? []), ...(ALLOWED.dropped[name] ?? [])]) {
            for (const parts of forbidden) assert.ok(!hasAll(outcome, parts), `${name}: ${outcome}`);
        }
    }
});

/** @param {string} part */
const nameOf = (part) => /^\w+[=:]/.exec(part)?.[0] ?? '';
