/**
 * clang-tidy, each file once, two at a time. A file that is as it was when it passed is not read
 * again: the stamp is of the file, of every header of ours and of the checks.
 */

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { read, run, tail } from './run.js';
import { sources } from './sources.js';
import { whenStale } from './stamp.js';

const JOBS = 2;

/** @typedef {{ file: string, database: string }} Unit */

/**
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string[]} databases Build folders; of a file in several, the first counts.
 * @param {string} log
 */
export async function tidyAll(tools, databases, log) {
    const common = [tools.id, '.clang-tidy', ...sources('**.hpp')];
    const inputs = common.map((path) => (path === tools.id ? path : join(repository, path)));
    const emscripten = emscriptenArgs(tools);
    const waiting = units(databases);
    /** @type {string[]} */
    const bad = [];
    const worker = async () => {
        for (let unit = waiting.pop(); unit; unit = waiting.pop()) {
            const { file, database } = unit;
            const name = `tidy-${relative(repository, file).replaceAll('/', '-')}`;
            const target = database.includes('wasm-') ? emscripten : [];
            const args = ['--quiet', '-p', database, ...target, file];
            await whenStale({ name, inputs: [file, ...inputs, ...args], outputs: [] }, () =>
                run(tools.command('clang-tidy', args), log),
            ).catch(() => bad.push(relative(repository, file)));
        }
    };
    await Promise.all(Array.from({ length: JOBS }, worker));
    if (bad.length > 0) throw new Failure(`clang-tidy: ${bad.join(', ')}\n${tail(log)}`);
}

/** @param {string[]} databases */
function units(databases) {
    /** @type {Map<string, Unit>} */
    const found = new Map();
    for (const database of databases)
        for (const file of compiled(database))
            if (!found.has(file)) found.set(file, { file, database });
    return [...found.values()];
}

/**
 * @param {string} database
 * @returns {string[]}
 */
function compiled(database) {
    /** @type {{ file: string }[]} */
    const entries = JSON.parse(readFileSync(join(database, 'compile_commands.json'), 'utf8'));
    return entries.map(({ file }) => file).filter((file) => file.startsWith(`${repository}/`));
}

/**
 * What em++ adds to its clang's command line, which the compile database does not show. em++ tells
 * it, as one line of words.
 * @param {import('./toolchain.js').Toolchain} tools
 */
function emscriptenArgs(tools) {
    const { file, args, env } = tools.command('em++', [
        '--cflags',
        '-fwasm-exceptions',
        '-pthread',
    ]);
    const words = read(file, args, env)?.split(/\s+/) ?? [];
    return words.map((word) => `--extra-arg-before=${word}`);
}
