/** The plot of the benchmarks: docs/scale.svg. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../bench/lib/rows.js';
import { scaleSvg } from '../../bench/lib/scale-svg.js';

/** @param {string} panel @param {number} x @param {number} ours @param {number} peer */
const row = (panel, x, ours, peer) =>
    judge({
        name: `${panel}, ${x}`,
        unit: 'ms',
        peer: 'the platform',
        samples: { ours: [ours], peer: [peer] },
        target: { most: 2 },
        plot: { panel, along: 'tabs & names', x },
    });

test('a plot has a panel for each title, and two lines through the figures of its rows', () => {
    const drawn = scaleSvg([
        row('a <b>', 10, 1, 10),
        row('a <b>', 1_000, 100, 1),
        row('c', 5, 3, 3),
        row('c', 7, NaN, 3),
        judge({ name: 'd', unit: 'ms', peer: 'e', samples: { ours: [1], peer: [1] }, target: { most: 1 } }),
    ]);
    assert.equal(drawn.match(/class="title"/g)?.length, 2);
    assert.match(drawn, />a &#60;b&#62;</);
    assert.match(drawn, />tabs &#38; names</);
    const lines = [...drawn.matchAll(/points="([^"]*)"/g)].map(([, points = '']) => points.split(' '));
    assert.deepEqual(
        lines.map((points) => points.length),
        [2, 2, 1, 1],
        'a figure that is missing is left out',
    );
    const [[start = '', end = ''] = []] = lines;
    const y = (/** @type {string} */ point) => Number(point.split(',')[1]);
    assert.ok(y(start) > y(end), 'a figure that grows rises');
    assert.doesNotMatch(drawn, /NaN|Infinity|undefined/);
});
