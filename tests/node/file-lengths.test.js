/** Which source files the lint stage `lengths` refuses. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excessiveLength, statesReason } from '../../scripts/lib/file-lengths.js';

const lines = (/** @type {number} */ count) => 'f();\n'.repeat(count);

test('a file of 500 lines needs no reason, and one of 501 lines does', () => {
    assert.equal(excessiveLength(lines(500)), undefined);
    assert.equal(excessiveLength(lines(501)), 501);
    assert.equal(excessiveLength(`${lines(500)}f();`), 501, 'the last line has no line feed');
    assert.equal(excessiveLength(''), undefined);
});

test('a long file is accepted if its first comment states a reason', () => {
    const reason = '/** A list. This file is longer than 500 lines because it is a list. */\n';
    assert.equal(excessiveLength(reason + lines(900)), undefined);
    assert.equal(excessiveLength(`/** A list. */\n${lines(900)}`), 901);
});

test('the reason is read from a comment of any form, also over several lines', () => {
    assert.ok(statesReason('/* It is longer than 500 lines because of a. */'));
    assert.ok(statesReason('/**\n * It is longer\n * than 500 lines\n * because it is a list.\n */\n'));
    assert.ok(statesReason('// It is longer than 500\n// lines because it is a list.\n#include <set>\n'));
    assert.ok(statesReason('#!/usr/bin/env node\n/** It is longer than 500 lines because of a. */'));
    assert.ok(statesReason('#pragma once\n\n// It is longer than 500 lines because of a.\n'));
});

test('a reason below the first comment does not count, nor does one without a text', () => {
    assert.ok(!statesReason('/** A. */\n\n/** It is longer than 500 lines because of a. */\n'));
    assert.ok(!statesReason('f();\n// It is longer than 500 lines because of a.\n'));
    assert.ok(!statesReason('f("longer than 500 lines because of a");\n'));
    assert.ok(!statesReason('/** It is longer than 500 lines because */\n'));
    assert.ok(!statesReason('/**\n * It is longer than 500 lines because\n */\n'));
});
