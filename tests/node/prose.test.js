/** Which beginnings and which words of comments and of test names the lint stage `prose` refuses. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commentLines, proseFaults, testNames } from '../../scripts/lib/prose.js';

/** @param {string} source */
const foundIn = (source) => proseFaults(source).map(({ line, found }) => `${line}: ${found}`);

test('a comment that begins without a subject is found, whatever its form', () => {
    assert.deepEqual(foundIn('/** Of a tab. */'), ['1: Of']);
    assert.deepEqual(foundIn('/**\n * Who waits.\n */'), ['2: Who']);
    assert.deepEqual(foundIn('/// None: the tab is closed.'), ['1: None']);
    assert.deepEqual(foundIn('int n;  ' + '// Whose turn it is.'), ['1: Whose']);
    assert.deepEqual(foundIn('int n;  ' + '///< The same, later.'), ['1: The same']);
    assert.deepEqual(foundIn('<!-- Those that wait. -->'), ['1: Those that']);
});

test('a paragraph is a beginning, and so is a comment below a comment that ends', () => {
    assert.deepEqual(foundIn('/**\n * Counts.\n *\n * Of a tab.\n */'), ['4: Of']);
    assert.deepEqual(foundIn('int n;  // counts\n// Of a tab.'), ['2: Of']);
    assert.deepEqual(foundIn('/** Counts. */\n/** Of a tab. */'), ['2: Of']);
});

test('a line that continues a sentence may begin with any word', () => {
    assert.deepEqual(foundIn('// The locks\n// Of A and B.'), []);
    assert.deepEqual(foundIn('/**\n * The counter\n * Same of X.\n */'), []);
});

test('code and strings are not comments', () => {
    const source = "const all = ['wasm/**.cpp', 'https://Of.example'];\nrow.thief = `// `;\n";
    assert.deepEqual(commentLines(source), []);
    assert.deepEqual(foundIn(source), []);
});

test('a replaced word is found anywhere in a comment, with the word to write instead', () => {
    assert.deepEqual(proseFaults('let a;\n// The lock\n// was robbed.'), [
        {
            line: 3,
            found: 'robbed',
            instead: 'write "steal" or "previous holder"',
        },
    ]);
});

test('the names of tests are read from Node and from Catch2, also on a line of their own', () => {
    const source = "test('a', () => {});\nit.skip(`b`);\nTEST_CASE(\n    \"c \\\" d\") {}\nlatest('e');\n";
    assert.deepEqual(
        testNames(source).map(({ line, text }) => `${line}: ${text}`),
        ['1: a', '2: b', '3: c \\" d'],
    );
});

test('a test name without a subject is found', () => {
    /** @param {string} name */
    const foundInName = (name) => foundIn(`it('${name}', () => {});`);
    assert.deepEqual(foundInName('of a data: URL'), ['1: of']);
    assert.deepEqual(foundInName('the same when a tab is killed'), ['1: the same']);
    assert.deepEqual(foundInName('the same seeds make the same runs'), []);
    assert.deepEqual(foundInName('none begins with a hyphen'), []);
});
