/** Child processes: run to the end, their output kept in a log file and shown when they fail. */

import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { Failure } from './failure.js';
import { repository } from './paths.js';

/** Enough to hold a compiler's first error or a test's report, little enough to read. */
const TAIL_LINES = 60;

/** Lines of CTest's and of Node's runner that tell of nothing wrong: a tail has no room for them. */
const PASSED = /^\s*(✔ |Start +\d+: |\d+\/\d+ Test .* Passed )/;

/**
 * @typedef {object} Command
 * @property {string} file
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env] All of the environment; this process's own if left out.
 * @property {string} [cwd] The repository if left out.
 * @property {string} [name] What to call it where it fails, if not by its file.
 * @property {boolean} [yields] It computes for long: whoever waits for something goes before it.
 */

/**
 * @param {string} file
 * @param {string[]} [args]
 * @param {Omit<Command, 'file' | 'args'>} [options]
 * @returns {Command}
 */
export const command = (file, args = [], options = {}) => ({ file, args, ...options });

/**
 * Runs a command with its output on ours. Resolves to its exit code.
 * @param {Command} command
 * @returns {Promise<number>}
 */
export function show({ file, args, env = process.env, cwd = repository }) {
    return ended(spawn(file, args, { stdio: 'inherit', env, cwd }));
}

/**
 * Runs a command with its output appended to a log. Rejects, with the log's tail, if it fails.
 * @param {Command} command
 * @param {string} log
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
 * What a command prints on its standard output; undefined if it fails or is missing.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export function read(file, args, env = process.env) {
    const { status, stdout } = spawnSync(file, args, { env, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
}

/** @param {string} name A command looked for on the PATH. */
export const has = (name) => read('sh', ['-c', `command -v ${name}`]) !== undefined;

export const isRoot = process.getuid?.() === 0;

/**
 * The last lines of a log and where the rest is.
 * @param {string} log
 */
export function tail(log) {
    const all = readFileSync(log, 'utf8').trimEnd().split('\n');
    const lines = all.filter((line) => !PASSED.test(line)).slice(-TAIL_LINES);
    const indented = lines.map((line) => `  │ ${line}`).join('\n');
    return `${indented}\n  └ all of it: ${relative(repository, log)}`;
}

/**
 * The exit code, counting a signal as a failure and a missing command as the shell does.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
function ended(child) {
    return new Promise((resolve) => {
        child.on('error', () => resolve(127));
        child.on('close', (code) => resolve(code ?? 1));
    });
}
