/** The checks and the table that are made of the cells of the matrix. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cellsOf, contradictions, deniedByMatrix, seenInReality } from '../../scripts/lib/matrix.js';
import { markdown, summary } from '../../scripts/lib/matrix-table.js';

/** @param {Partial<import('../../scripts/lib/matrix.js').MatrixPart>} [more] */
const part = (more) => ({
    verdict: /** @type {const} */ ('proved'),
    schedules: 1234,
    steps: 5678,
    seconds: 0.5,
    bound: 'every schedule',
    failure: '',
    seed: '',
    tabs: 2,
    adds: 3,
    faults: 0,
    sought: /** @type {const} */ ('any'),
    ...more,
});

/** @param {Partial<import('../../scripts/lib/matrix.js').MatrixCell>} [more] */
const cell = (more) => ({
    strategy: 'naive',
    model: /** @type {const} */ ('cached'),
    fault: 'none',
    explored: true,
    declared: 'may lose',
    verdict: /** @type {const} */ ('proved'),
    contradicts: false,
    unfound: false,
    parts: [part()],
    ...more,
});

const lost = part({ verdict: 'broken', bound: '', failure: 'an update is lost', seed: 'tabacus-1-A' });
const broken = cell({ verdict: 'broken', parts: [lost] });

test('a strategy that loses updates in real tabs must be broken in some cell without faults', () => {
    const row = { strategy: 'naive', lost: 0.5 };
    const reality = { runs: [{ engine: 'Chromium', rows: [row] }] };
    assert.deepEqual(deniedByMatrix([cell()], reality), ['Chromium: naive']);
    assert.deepEqual(deniedByMatrix([cell(), { ...broken, fault: 'kill' }], reality), ['Chromium: naive']);
    assert.deepEqual(deniedByMatrix([cell(), broken], reality), []);
    row.lost = 0;
    assert.deepEqual(deniedByMatrix([cell()], reality), []);
});

test('the measured losses are of three engines, and are not empty', () => {
    assert.equal(seenInReality().runs.length, 3);
    assert.notDeepEqual(deniedByMatrix([]), []);
});

test('a contradiction is reported with its seed', () => {
    assert.deepEqual(contradictions([cell(), broken]), []);
    assert.deepEqual(contradictions([{ ...broken, declared: 'never', contradicts: true }]), [
        'naive, cached, none is declared "never": an update is lost (tabacus-1-A)',
    ]);
});

test('only a line that holds a cell is read as one', () => {
    assert.deepEqual(cellsOf(`noise\n${JSON.stringify(broken)}\n`), [broken]);
});

test('the table has a row for each strategy and model, and every seed', () => {
    const cells = [cell({ unfound: true }), { ...broken, fault: 'kill' }];
    assert.match(summary(cells), /^naive +cached +proved \? +broken$/m);
    assert.match(summary(cells), /2 cells, 2,468 schedules, 11,356 steps; 0 contradict/);
    const page = markdown(cells, false);
    assert.match(page, /\| `naive` \| cached \| proved \? \| broken \|/);
    assert.match(page, /naive, cached, none \| 2 × 3: every schedule \(1,234\)/);
    assert.match(page, /`tabacus-1-A`/);
});
