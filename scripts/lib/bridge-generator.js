/**
 * Writes both sides of the bridge between C++ and JavaScript from the description in bridge/. Git ignores the files.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bindings, groups } from '../../bridge/exports.js';
import { enums } from '../../bridge/types.js';
import { errorCodeHeader, exportsHeader, hostHeader, recordsHeader } from './bridge-cpp.js';
import {
    buildModule,
    cellsCallsModule,
    coordinationCallsModule,
    enumFile,
    enumModule,
    errorCodesModule,
    exportsModule,
    glueModule,
    hostCallsModule,
    hostEventsModule,
} from './bridge-js.js';
import { repository } from './paths.js';

/** The function that writes each file. Every module has a file of its own, so that a page loads only what it uses. */
const FILES = {
    'wasm/include/tabacus/common/generated/error_code.hpp': errorCodeHeader,
    'js/common/generated/error-codes.js': errorCodesModule,
    'wasm/src/browser/generated/records.hpp': recordsHeader,
    'wasm/src/browser/generated/host.hpp': hostHeader,
    ...Object.fromEntries(
        Object.keys(enums).map((name) => [
            `js/core/generated/enums/${enumFile(name)}.js`,
            () => enumModule(name),
        ]),
    ),
    'js/core/generated/host-calls.js': hostCallsModule,
    'js/core/generated/host-events.js': hostEventsModule,
    'js/core/generated/coordination-calls.js': coordinationCallsModule,
    'js/core/generated/cells-calls.js': cellsCallsModule,
    'js/core/generated/glue.js': glueModule,
    ...Object.fromEntries(
        Object.entries(groups).map(([name, calls]) => [
            `js/core/generated/${name}.js`,
            () => exportsModule(calls),
        ]),
    ),
    ...Object.fromEntries(
        Object.entries(bindings).map(([name, calls]) => [
            `wasm/src/bindings/generated/${name}.hpp`,
            () => exportsHeader(calls),
        ]),
    ),
};

const COLUMNS_MAX = 100;

/**
 * Breaks a line that is too long: a line of code after a comma, a comment between words.
 *
 * @param {string} line
 * @param {string} [more] the spaces by which the next line of code is indented further
 * @returns {string}
 */
function wrapped(line, more = '    ') {
    if (line.length <= COLUMNS_MAX) return line;
    const [, indent = '', comment = ''] = /^(\s*?)(\/\/\/ | \* )?(?=\S)/.exec(line) ?? [];
    const gap = comment ? ' ' : ', ';
    const from = indent.length + comment.length;
    const end = Math.max(line.lastIndexOf(gap, COLUMNS_MAX - gap.length), line.indexOf(gap, from));
    if (end < from || (comment && /[{}]/.test(line))) return line; // a type of JSDoc stays whole
    const head = line.slice(0, end + gap.length).trimEnd();
    const rest = line.slice(end + gap.length);
    return `${head}\n${wrapped(`${indent}${comment || more}${rest}`, '')}`;
}

/** @param {string} text */
const laidOut = (text) =>
    text
        .split('\n')
        .map((line) => wrapped(line))
        .join('\n');

/** The generated texts by their paths. */
const generated = () => new Map(Object.entries(FILES).map(([path, write]) => [path, laidOut(write())]));

/**
 * Writes the generated files. A file that would not change is not written, so that nothing is compiled again for it.
 */
export function generateBridge() {
    const texts = generated();
    texts.set('js/core/generated/build.js', buildModule(bridgeBuild(texts)));
    for (const [path, text] of texts) {
        const file = join(repository, path);
        if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
    }
}

/**
 * Returns a name for the bridge on which JavaScript and wasm must agree: the version of the package, and a hash of
 * both sides of the bridge. js/core/program.js compares it with the name in each piece
 * (scripts/lib/split-program.js).
 *
 * @param {Map<string, string>} [texts]
 */
export function bridgeBuild(texts = generated()) {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    const hash = createHash('sha256')
        .update([...texts.values()].join('\0'))
        .digest('hex');
    return `${version}-${hash.slice(0, 8)}`;
}
