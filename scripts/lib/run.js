/** Runs child processes to their end. Their output is kept in a log file, and its tail is shown if they fail. */

import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { Failure } from './failure.js';
import { repository } from './paths.js';

/** How many lines of a log a failure shows: enough for a compiler's first error or a test's report. */
const TAIL_LINES = 60;

/** The lines in which CTest and Node's runner report a success. A tail leaves them out. */
const PASSED = /^\s*(✔ |Start +\d+: |\d+\/\d+ Test .* Passed )/;

/**
 * @typedef {object} Command
 * @property {string} file
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env] the whole environment, by default that of this process
 * @property {string} [cwd] the working directory, by default the repository
 * @property {string} [name] the name in a failure's message, by default the file
 * @property {boolean} [yields] whether it has a low priority, since it computes for long
 */

/**
 * @param {string} file
 * @param {string[]} [args]
 * @param {Omit<Command, 'file' | 'args'>} [options]
 * @returns {Command}
 */
export const command = (file, args = [], options = {}) => ({ file, args, ...options });

/**
 * Runs a command whose output goes to that of this process. Resolves to its exit code.
 * @param {Command} command
 * @returns {Promise<number>}
 */
export function show({ file, args, env = process.env, cwd = repository }) {
    return ended(spawn(file, args, { stdio: 'inherit', env, cwd }));
}

/**
 * Runs a command and appends its output to a log.
 * @param {Command} command
 * @param {string} log
 * @throws {Failure} with the tail of the log, if the command fails
 */
export async function run(command, log) {
    const { file, args, env = process.env, cwd = repository, name = file, yields } = command;
    mkdirSync(dirname(log), { recursive: true });
    const out = createWriteStream(log, { flags: 'a' });
    const [first, ...others] = yields ? ['nice', '-n', '19', file, ...args] : [file, ...args];
    const child = spawn(first, others, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd });
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    const code = await ended(child);
    out.end();
    await finished(out);
    if (code !== 0) throw new Failure(`${name} failed (${code})\n${tail(log)}`);
}

/**
 * Returns what a command prints on its standard output, or undefined if it fails or is missing.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export function read(file, args, env = process.env) {
    const { status, stdout } = spawnSync(file, args, { env, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
}

/** Whether the PATH has a command. @param {string} name */
export const has = (name) => read('sh', ['-c', `command -v ${name}`]) !== undefined;

export const isRoot = process.getuid?.() === 0;

/**
 * The last lines of a log, and the path of the log.
 * @param {string} log
 */
export function tail(log) {
    const all = readFileSync(log, 'utf8').trimEnd().split('\n');
    const lines = all.filter((line) => !PASSED.test(line)).slice(-TAIL_LINES);
    const indented = lines.map((line) => `  │ ${line}`).join('\n');
    return `${indented}\n  └ all of it: ${relative(repository, log)}`;
}

/**
 * Resolves to the exit code of a process: 1 if a signal ended it, and 127 if there is no such command, as in a shell.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
function ended(child) {
    return new Promise((resolve) => {
        child.on('error', () => resolve(127));
        child.on('close', (code) => resolve(code ?? 1));
    });
}
