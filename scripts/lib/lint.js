/** The linters and formatters: what each reads, and how it is asked. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { bin, nodeModules } from './node-modules.js';
import { buildFolder, logFolder } from './paths.js';
import { tidyAll } from './tidy.js';
import { command, run } from './run.js';
import { sources } from './sources.js';
import { toolchain } from './toolchain.js';

/** @param {string} name */
const freshLog = (name) => {
    const log = join(logFolder, `${name}.log`);
    rmSync(log, { force: true });
    return log;
};

const cpp = () => sources('wasm/**.cpp', 'wasm/**.hpp', 'tests/**.cpp', 'tests/**.hpp', 'bench/**.cpp');

export async function clangFormat() {
    const tools = await toolchain();
    const args = ['--dry-run', '-Werror', ...cpp()];
    await run(tools.command('clang-format', args), freshLog('clang-format'));
}

/** Lays out the C++. */
export async function formatCpp() {
    const tools = await toolchain();
    await run(tools.command('clang-format', ['-i', ...cpp()]), freshLog('format'));
}

/**
 * Over what the release build and both wasm builds compile.
 * @param {number} jobs
 */
export async function clangTidy(jobs) {
    const databases = ['native-release', 'wasm-threads', 'wasm-single'].map((preset) =>
        join(buildFolder, preset),
    );
    const missing = databases.find((folder) => !existsSync(join(folder, 'compile_commands.json')));
    if (missing) throw new Failure(`${missing} is not configured`);
    await tidyAll(await toolchain(), databases, freshLog('clang-tidy'), jobs);
}

/** What .prettierignore leaves of the repository. @param {string} action */
const prettierArgs = (action) => [action, '--log-level', 'warn', '.'];

export async function prettier() {
    await nodeModules();
    await run(command(bin('prettier'), prettierArgs('--check')), freshLog('prettier'));
}

/** Lays out JavaScript, JSON, CSS and HTML. */
export async function formatJs() {
    await nodeModules();
    await run(command(bin('prettier'), prettierArgs('--write')), freshLog('format'));
}

export async function tsc() {
    await nodeModules();
    await run(command(bin('tsc'), ['--project', 'tsconfig.json']), freshLog('tsc'));
}

export async function eslint() {
    await nodeModules();
    await run(command(bin('eslint'), ['--max-warnings=0', '.']), freshLog('eslint'));
}
