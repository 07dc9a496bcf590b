/** Node's test runner over a folder of tests/, its report kept in a log. */

import { rmSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeCounts } from './counts.js';
import { Failure } from './failure.js';
import { logFolder } from './paths.js';
import { command, run } from './run.js';
import { sources } from './sources.js';

/** A hung test ends with its name, not with the whole run's time. */
const TIMEOUT_ms = 10 * 60 * 1000;

/**
 * @param {string} folder
 * @param {number} concurrency How many files at once.
 * @param {(counts: import('./counts.js').Counts, skips: string[]) => void} report
 */
export async function nodeTests(folder, concurrency, report) {
    // git's `**.` reaches into folders below, fixtures among them, which are other programs' tests.
    const files = sources(`:(glob)tests/${folder}/*.test.js`);
    if (files.length === 0) throw new Failure(`no test in tests/${folder}`);
    const log = join(logFolder, `test-${folder}.log`);
    rmSync(log, { force: true });
    const options = [`--test-concurrency=${concurrency}`, `--test-timeout=${TIMEOUT_ms}`];
    const args = ['--test', '--test-reporter=spec', ...options, ...files];
    try {
        await run(command(process.execPath, args), log);
    } finally {
        const text = readFileSync(log, 'utf8');
        report(nodeCounts(text), [...new Set(text.match(/^\s*﹣ .* # .*$/gm) ?? [])]);
    }
}
