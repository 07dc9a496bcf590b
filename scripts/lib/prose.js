/**
 * Checks comments and test names for beginnings after which no subject can come, and for words that the project has
 * replaced. It has few patterns, so that it raises no false alarm.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { sources } from './sources.js';

/** @typedef {{ line: number, text: string, begins: boolean }} Piece */
/** @typedef {{ line: number, found: string, instead: string }} Finding */

const FOLDERS = ['wasm', 'js', 'scripts', 'demo', 'web', 'bench', 'bridge', 'tests', 'bin', 'examples'];

const SOURCE = /\.(?:[jt]sx?|mjs|[ch]pp|html|css|vue|svelte)$/;

/** Beginnings after which no subject comes, at the start of a comment. */
const HEADLESS_COMMENT =
    /^(?:(?:Who|Whose|Whom|Of|None|Same)\b|The same(?=,| (?:when|if|for|with|but|one)\b)|Those (?:that|which|who|whose|of)\b)/;

/** The same beginnings in a test name, which may begin in lower case. */
const HEADLESS_NAME =
    /^(?:(?:who|whose|whom|of|same)\b|none:|the same(?=,| (?:when|if|for|with|but|one)\b)|those (?:that|which|who|whose|of)\b)/i;

const SUBJECT = 'begin with a subject or a verb, as in "A tab that waits …" or "Returns nothing if …"';

/** Words with no second meaning in this code base, and the word of the field for each. */
const REPLACED = new Map(
    Object.entries({
        aloud: 'trace',
        'bur(?:y|ies|ied)': 'report that a worker exited',
        happenings: 'events',
        hasty: 'within the grace period',
        heard: 'received',
        'in good order': 'is closed',
        'ledgers?': 'row cache',
        'linger(?:s|ed|ing)?': 'grace period',
        'mourn(?:s|ed)?': 'report that a worker exited',
        'rivals?': 'contender',
        'rob(?:s|bed|bing)?': 'steal" or "previous holder',
        'tall(?:y|ies)': 'count" or "total',
        'thie(?:f|ves)': 'stealer',
        'thousand million': 'billion',
        'turnstiles?': 'entry lock',
        whom: 'which',
    }).map(([word, instead]) => [new RegExp(`\\b${word}\\b`, 'i'), `write "${instead}"`]),
);

/** The sign that ends a block comment, by the sign that begins it. A line comment has none. */
const ENDS = new Map([
    ['/*', '*/'],
    ['/**', '*/'],
    ['<!--', '-->'],
]);

/**
 * The comments of a source, line by line.
 * @param {string} source
 * @returns {Piece[]} the lines that have text; `begins` marks those that start a comment or a paragraph of one
 */
export function commentLines(source) {
    /** @type {Piece[]} */
    const pieces = [];
    let end = ''; // the sign that ends the block comment that the line is in
    let continues = false; // whether the comment in this line continues text of the line before
    for (const [index, line] of source.split('\n').entries()) {
        const inside = end !== '';
        const [, code = '', sign = '', opened = ''] =
            (!inside && /^(.*?(?<!\S))(\/\/+<?|\/\*\*?|<!--)(?=\s|$)(.*)$/.exec(line)) || [];
        if (!inside) {
            end = ENDS.get(sign) ?? '';
            continues &&= end === '' && code.trim() === '';
        }
        const rest = inside ? line.replace(/^\s*\*(?!\/)/, '') : opened;
        const [text = '', after] = end === '' ? [rest] : rest.split(end);
        if (text.trim() !== '') pieces.push({ line: index + 1, text: text.trim(), begins: !continues });
        if (after !== undefined) end = '';
        continues = text.trim() !== '' && after === undefined && code.trim() === '';
    }
    return pieces;
}

/**
 * The names of the tests of a source: of Node's runner, and of Catch2.
 * @param {string} source
 * @returns {Piece[]}
 */
export function testNames(source) {
    const calls = source.matchAll(
        /\b(?:test|it|describe|TEST_CASE|SECTION)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g,
    );
    return [...calls].map((call) => ({
        line: source.slice(0, call.index).split('\n').length,
        text: call[2] ?? '',
        begins: true,
    }));
}

/**
 * The faults of some lines.
 * @param {Piece[]} pieces
 * @param {RegExp} headless
 * @returns {Finding[]}
 */
function findings(pieces, headless) {
    return pieces.flatMap(({ line, text, begins }) => {
        const rules = [
            ...REPLACED,
            ...(begins ? /** @type {[RegExp, string][]} */ ([[headless, SUBJECT]]) : []),
        ];
        return rules.flatMap(([pattern, instead]) => {
            const found = pattern.exec(text);
            return found ? [{ line, found: found[0], instead }] : [];
        });
    });
}

/**
 * The faults of the comments and the test names of a source.
 * @param {string} source
 * @returns {Finding[]} in the order of the lines
 */
export const proseFaults = (source) =>
    [...findings(commentLines(source), HEADLESS_COMMENT), ...findings(testNames(source), HEADLESS_NAME)].sort(
        (a, b) => a.line - b.line,
    );

/**
 * Checks every source of the folders that hold code.
 * @returns {Promise<void>}
 * @throws {Failure} that names each line, what is wrong there, and what to write instead
 */
export async function checkProse() {
    const faults = sources(...FOLDERS)
        .filter((path) => SOURCE.test(path))
        .flatMap((path) =>
            proseFaults(readFileSync(join(repository, path), 'utf8')).map(
                ({ line, found, instead }) => `${path}:${line}: "${found}": ${instead}`,
            ),
        );
    if (faults.length > 0) throw new Failure(faults.join('\n'));
}
