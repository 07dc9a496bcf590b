/** Writes both sides of the bridge between C++ and JavaScript from what bridge/ describes: files that git ignores. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bindings, groups } from '../../bridge/exports.js';
import { enums } from '../../bridge/types.js';
import { exportsHeader, hostHeader, recordsHeader } from './bridge-cpp.js';
import {
    coordinationCallsModule,
    enumFile,
    enumModule,
    exportsModule,
    glueModule,
    hostCallsModule,
    hostEventsModule,
} from './bridge-js.js';
import { repository } from './paths.js';

/** Each file, and what is in it. A page loads a module only with what uses it, so there is one for each. */
const FILES = {
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
 * Breaks a line that is too long after a comma, and a comment between words.
 *
 * @param {string} line
 * @param {string} [more] by how much the next line is indented
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

/** Leaves a file as it is if it would not change, so that nothing is compiled again for it. */
export function generateBridge() {
    for (const [path, write] of Object.entries(FILES)) {
        const file = join(repository, path);
        const text = write()
            .split('\n')
            .map((line) => wrapped(line))
            .join('\n');
        if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
    }
}
