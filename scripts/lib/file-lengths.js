/**
 * Checks that each source file has at most 500 lines, or that its first comment says why it has more. A long file often
 * holds several things that a reader wants to find by a name.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { sources } from './sources.js';

const LINES_MAX = 500;

const SOURCES = ['*.js', '*.cpp', '*.hpp', '*.css'];

/** Files that other programs wrote, or that stand for the files of others. */
const FOREIGN = /(?:^|\/)(?:fixtures|generated)\//;

/** The comment at the head of a source: one block, or lines. Only `#!…` and `#pragma once` may stand above it. */
const FIRST_COMMENT = /^(?:#(?:!|pragma once).*\n)?\s*(\/\*.*?\*\/|(?:\/\/[^\n]*\n)+)/s;

/** The signs that begin and end comments and their lines. */
const SIGNS = /^\s*(?:\/\*+|\/\/+|\*+(?!\/))|\*\/\s*$/gm;

const REASON = /\blonger than 500 lines because \S/;

/**
 * Whether the first comment of a source says why it is long.
 * @param {string} source
 */
export function statesReason(source) {
    const [, comment = ''] = FIRST_COMMENT.exec(source) ?? [];
    return REASON.test(comment.replace(SIGNS, ' ').replace(/\s+/g, ' '));
}

/**
 * The number of lines of a source that is too long and states no reason for that, and otherwise nothing.
 * @param {string} source
 * @returns {number | undefined}
 */
export function excessiveLength(source) {
    const lines = source.split('\n').length - Number(source.endsWith('\n'));
    return lines <= LINES_MAX || statesReason(source) ? undefined : lines;
}

/**
 * Checks every source file of the repository.
 * @returns {Promise<void>}
 * @throws {Failure} that names each file, its length, and what to do
 */
export async function checkLengths() {
    const faults = sources(...SOURCES)
        .filter((path) => !FOREIGN.test(path))
        .flatMap((path) => {
            const lines = excessiveLength(readFileSync(join(repository, path), 'utf8'));
            return lines === undefined ? [] : [`${path} has ${lines} lines`];
        });
    if (faults.length === 0) return;
    const advice =
        'split each by the nouns in it, or state in its first comment why it is "longer than 500 lines because …"';
    throw new Failure(`${faults.join('\n')}\n${advice}`);
}
