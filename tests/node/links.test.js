/** What counts as a link and as an anchor in a Markdown file. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorsOf, linksOf, slugOf } from '../../scripts/lib/links.js';

test('a heading becomes the anchor that GitHub makes of it', () => {
    assert.equal(slugOf('`tab.budget(name, { limit })`'), 'tabbudgetname--limit-');
    assert.equal(slugOf('Walk 1: a counter’s add'), 'walk-1-a-counters-add');
    assert.equal(slugOf('Where the [rules](rules.md) are'), 'where-the-rules-are');
});

test('a repeated heading has a number, and an explicit id is an anchor', () => {
    const anchors = anchorsOf('# Errors\n\n## Errors\n\n<a id="here"></a>\n\n```sh\n# no heading\n```\n');
    assert.deepEqual([...anchors], ['errors', 'errors-1', 'here']);
});

test('links are found with their lines, but not in code', () => {
    const text = '[a](a.md) ![b](b.png "B")\n`[c](c.md)`\n\n```\n[d](d.md)\n```\n\n[e]: e.md#f\n[`g`](#g)\n';
    assert.deepEqual(
        linksOf(text).map(({ line, target }) => `${line}: ${target}`),
        ['1: a.md', '1: b.png', '8: e.md#f', '9: #g'],
    );
});
