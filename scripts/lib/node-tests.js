/** Runs Node's test runner over a folder of tests/ and keeps its report in a log. */

import { rmSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeCounts } from './counts.js';
import { Failure } from './failure.js';
import { logFolder } from './paths.js';
import { command, run } from './run.js';
import { sources } from './sources.js';

/** The time after which the runner ends a test that hangs and names it, before the whole run is ended. */
const TIMEOUT_ms = 10 * 60 * 1000;

/**
 * @param {string} folder
 * @param {number} concurrency how many files run at once
 * @param {(counts: import('./counts.js').Counts, skips: string[]) => void} report
 */
export async function nodeTests(folder, concurrency, report) {
    // The pattern does not reach into subfolders: the tests among the fixtures there belong to other programs.
    const files = sources(`:(glob)tests/${folder}/*.test.js`);
    if (files.length === 0) throw new Failure(`tests/${folder} contains no file *.test.js`);
    await nodeTestFiles({ name: folder, files, concurrency }, report);
}

/**
 * @param {object} tests
 * @param {string} tests.name of the log
 * @param {string[]} tests.files their paths from the repository's root
 * @param {number} tests.concurrency how many files run at once
 * @param {Record<string, string>} [tests.env] variables of the environment that the tests read
 * @param {(counts: import('./counts.js').Counts, skips: string[]) => void} report
 */
export async function nodeTestFiles({ name, files, concurrency, env }, report) {
    const log = join(logFolder, `test-${name}.log`);
    rmSync(log, { force: true });
    const options = [`--test-concurrency=${concurrency}`, `--test-timeout=${TIMEOUT_ms}`];
    const args = ['--test', '--test-reporter=spec', ...options, ...files];
    try {
        await run(command(process.execPath, args, { env: { ...process.env, ...env } }), log);
    } finally {
        const text = readFileSync(log, 'utf8');
        report(nodeCounts(text), [...new Set(text.match(/^\s*﹣ .* # .*$/gm) ?? [])]);
    }
}
