/** The arithmetic, the table and the chart of `npm run compare`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lostShare, percentile, summarise } from '../../scripts/lib/compare-statistics.js';
import { position, svg } from '../../scripts/lib/compare-svg.js';
import { cells, duration, markdown, percent, table } from '../../scripts/lib/compare-table.js';
import { STRATEGIES } from '../../js/common/strategies.js';
import { checkCounterOptions } from '../../js/tab/tab-options.js';

/** @param {Partial<import('../../scripts/lib/compare-statistics.js').Work>} [parts] */
const work = (parts) => ({
    attempted: 100,
    acknowledged: 100,
    failed: 0,
    took_ms: 1000,
    stuck: false,
    add_ms: [1],
    ...parts,
});

/** @param {Partial<import('../../scripts/lib/compare-statistics.js').Measured>} [parts] */
const measured = (parts) => ({
    strategy: 'naive',
    declared: 'concurrent updates',
    tabs: [work(), work()],
    end: { value: 200, values: [200, 200], converged: true },
    ...parts,
});

test('a percentile is a sample, by nearest rank', () => {
    const samples = Array.from({ length: 100 }, (_, i) => 100 - i);
    assert.equal(percentile(samples, 50), 50);
    assert.equal(percentile(samples, 99), 99);
    assert.equal(percentile(samples, 100), 100);
    assert.equal(percentile([7], 1), 7);
    assert.equal(percentile([3, 1, 2], 50), 2);
    assert.ok(Number.isNaN(percentile([], 50)));
});

test('the share lost is a share of the acknowledged increments, and never negative', () => {
    assert.equal(lostShare(200, 150), 0.25);
    assert.equal(lostShare(200, 201), 0);
    assert.equal(lostShare(0, 0), 0);
    assert.equal(lostShare(10, -5), 1);
});

test('a row is the sum of its tabs, each measured over its own time', () => {
    const tabs = [work({ took_ms: 500 }), work({ add_ms: [3, 5], stuck: true, failed: 2 })];
    const sight = { seen_ms: [4, 2], missed: 1 };
    const row = summarise(
        measured({ tabs, sight, end: { value: 150, values: [150, 149], converged: false } }),
    );
    assert.deepEqual(row, {
        strategy: 'naive',
        declared: 'concurrent updates',
        adds: 200,
        value: 150,
        lost: 0.25,
        extra: 0,
        rate: 300,
        add_ms: { p50: 3, p99: 5 },
        seen_ms: { p50: 2, p99: 4 },
        missed: 1,
        converged: false,
        stuck: 1,
        failed: 2,
    });
});

test('an increment of unknown outcome is neither lost nor counted twice', () => {
    const tabs = [work({ attempted: 101, stuck: true })];
    /** @param {number} value */
    const row = (value) => summarise(measured({ tabs, end: { value, values: [value], converged: true } }));
    assert.deepEqual([row(100).lost, row(100).extra], [0, 0]);
    assert.deepEqual([row(101).lost, row(101).extra], [0, 0]);
    assert.deepEqual([row(103).lost, row(103).extra], [0, 2]);
});

test('figures are short, and a loss reads 0 only if nothing is lost', () => {
    assert.equal(percent(0), '0');
    assert.equal(percent(1e-7), '0.00001 %');
    assert.equal(percent(0.25), '25 %');
    assert.equal(percent(1), '100 %');
    assert.deepEqual([2e-5, 0.02, 2, 2500, NaN].map(duration), ['20 ns', '20 µs', '2 ms', '2.5 s', '–']);
});

test('the table has a line for each strategy, its columns aligned', () => {
    const tabs = [work({ stuck: true, failed: 1200 })];
    const rows = [
        summarise(measured({ sight: { seen_ms: [], missed: 3 } })),
        summarise(
            measured({ strategy: 'replicated', tabs, end: { value: 103, values: [103], converged: false } }),
        ),
    ];
    assert.deepEqual(cells(rows[1] ?? assert.fail()).slice(-2), [
        'no',
        '3 counted twice; stuck in 1 tab; 1,200 failed',
    ]);
    const lines = table(rows).split('\n');
    assert.equal(lines.length, 3);
    const end = (lines[0] ?? '').indexOf('a second') + 'a second'.length;
    assert.ok(lines.every((line) => line[end - 1] !== ' ' && line[end] === ' '));
    assert.match(lines[1] ?? '', /^naive .*not seen in time: 3$/);
    assert.match(markdown(rows), /^\| strategy \|.*\n\| --- \| ---: \|.*\n\| naive \| 0 \|/);
});

test('on the logarithmic scale decades are equally long, zero has no length, and every other value is visible', () => {
    const scale = { least: 1, most: 10_000 };
    assert.equal(position(100, scale), 0.5);
    assert.equal(position(10_000, scale), 1);
    assert.equal(position(1e9, scale), 1);
    assert.equal(position(0, scale), 0);
    assert.ok(position(1e-9, scale) > 0);
});

test('the chart has a bar in both panels for each row of each engine, and both colour schemes', () => {
    const naive = summarise(measured({ end: { value: 20, values: [20], converged: true } }));
    const other = summarise(measured({ strategy: 'a<b' }));
    const chart = svg([
        { engine: 'Chromium', rows: [naive, other] },
        { engine: 'Firefox', rows: [naive] },
    ]);
    assert.equal(chart.match(/<title>naive, /g)?.length, 4);
    assert.equal(chart.match(/<title>a&#60;b, Chromium/g)?.length, 2);
    assert.match(chart, /naive, Firefox: 90 %/);
    assert.match(chart, /prefers-color-scheme: dark/);
    assert.doesNotMatch(chart, /NaN|undefined|a<b/);
});

test('the comparison has all strategies that a counter can have', () => {
    const strategies = STRATEGIES;
    assert.ok(strategies.includes('replicated') && strategies.includes('naive'));
    for (const strategy of strategies) assert.equal(checkCounterOptions({ strategy }).strategy, strategy);
});
