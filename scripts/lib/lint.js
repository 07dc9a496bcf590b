/** Runs the linters and formatters: which files each reads, and with which options. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateBridge } from './bridge-generator.js';
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

/** Formats the C++. */
export async function formatCpp() {
    const tools = await toolchain();
    await run(tools.command('clang-format', ['-i', ...cpp()]), freshLog('format'));
}

/**
 * Runs clang-tidy over all sources that the release build and both wasm builds compile.
 * @param {number} jobs how many processes run at once
 */
export async function clangTidy(jobs) {
    const databases = ['native-release', 'wasm-threads', 'wasm-single'].map((preset) =>
        join(buildFolder, preset),
    );
    const missing = databases.find((folder) => !existsSync(join(folder, 'compile_commands.json')));
    if (missing) throw new Failure(`${missing} is not configured: run node scripts/build.js native wasm`);
    await tidyAll(await toolchain(), databases, freshLog('clang-tidy'), jobs);
}

/** The arguments for all files of the repository but those in .prettierignore. @param {string} action */
const prettierArgs = (action) => [action, '--log-level', 'warn', '.'];

export async function prettier() {
    await nodeModules();
    await run(command(bin('prettier'), prettierArgs('--check')), freshLog('prettier'));
}

/** Formats JavaScript, JSON, CSS and HTML. */
export async function formatJs() {
    await nodeModules();
    await run(command(bin('prettier'), prettierArgs('--write')), freshLog('format'));
}

export async function tsc() {
    await nodeModules();
    generateBridge();
    await run(command(bin('tsc'), ['--project', 'tsconfig.json']), freshLog('tsc'));
}

export async function eslint() {
    await nodeModules();
    generateBridge();
    await run(command(bin('eslint'), ['--max-warnings=0', '.']), freshLog('eslint'));
}
