/** Adding a strategy touches the files that CONTRIBUTING.md lists, and no others. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { STRATEGIES } from '../../js/common/strategies.js';
import { sources } from '../../scripts/lib/sources.js';

const root = new URL('../../', import.meta.url);

const strategies = STRATEGIES.filter((strategy) => strategy !== 'replicated');

/** The files that name strategies and need not name a new one: tests, what shows a choice, what a command writes. */
const OTHERS = /^(tests\/|demo\/|README\.md$|docs\/matrix|CHANGELOG\.md$)/;

const [, recipe = ''] =
    /### Add a strategy\n([^]*?)\nThe tests of/.exec(
        readFileSync(new URL('CONTRIBUTING.md', root), 'utf8'),
    ) ?? [];

/** In the order of the recipe. */
const listed = [...recipe.matchAll(/^\d\. `([^`]+)`/gm)].map(([, path = '']) => path);

/** @param {string} path */
const text = (path) => readFileSync(new URL(path, root), 'utf8');

/** @param {string} path */
const namesAll = (path) => {
    const words = new Set(text(path).match(/\w+/g));
    return strategies.every((strategy) => words.has(strategy));
};

test('the recipe has at most eight files, and each of them names every strategy', () => {
    assert.ok(listed.length > 0 && listed.length <= 8, listed.join(', '));
    for (const path of listed) {
        if (path.includes('<name>')) {
            for (const strategy of strategies)
                assert.ok(
                    existsSync(new URL(path.replace('<name>', strategy), root)),
                    `${path}: ${strategy}`,
                );
        } else {
            assert.ok(namesAll(path), `${path} does not name every strategy`);
        }
    }
});

test('no other file names every strategy', () => {
    const files = sources('*.js', '*.ts', '*.json', '*.cpp', '*.hpp', '*.md', '*.cmake');
    const found = files.filter((path) => !OTHERS.test(path) && namesAll(path));
    assert.deepEqual(
        found.filter((path) => !listed.includes(path)),
        [],
    );
});
