/**
 * npm run mutate [-- name…]: plants the faults of tests/mutation/mutants.js one by one, and asks of
 * each that the test named beside it kills it. One that survives, or whose text is not there any
 * more, fails the run.
 */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MUTANTS } from '../tests/mutation/mutants.js';
import { build } from './lib/cmake.js';
import { closingLine, NOTHING } from './lib/counts.js';
import { Failure, main } from './lib/failure.js';
import { control, tryMutant } from './lib/mutant.js';
import { logFolder } from './lib/paths.js';
import { seconds, step } from './lib/progress.js';

const CORES = 2;

const WORDS = {
    survived: 'SURVIVED',
    'not found': 'the text to replace is not in the file, or more than once',
    'not built': 'does not compile',
};

/** @param {string[]} names */
function chosen(names) {
    const unknown = names.find((name) => !MUTANTS.some((mutant) => mutant.name === name));
    if (unknown !== undefined) throw new Failure(`no mutant ${unknown}`);
    return names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
}

/** @param {import('./lib/mutant.js').Mutant} mutant  @returns {Promise<boolean>} whether it was killed */
async function judge(mutant) {
    const since_ms = Date.now();
    const log = join(logFolder, 'mutants', `${mutant.name}.log`);
    const fate = await tryMutant(mutant, log);
    const words = fate === 'killed' ? `killed by “${mutant.test}”` : `${WORDS[fate]} (${log})`;
    console.log(`${fate === 'killed' ? '✓' : '✗'} ${mutant.name}: ${words} (${seconds(since_ms)})`);
    return fate === 'killed';
}

await main(async () => {
    const mutants = chosen(process.argv.slice(2));
    await build('native-debug');
    const logs = join(logFolder, 'mutants');
    rmSync(logs, { recursive: true, force: true });
    mkdirSync(logs, { recursive: true });
    await step('the tests without a fault', () => control(mutants, join(logs, 'control.log')));
    const counts = { ...NOTHING };
    const queue = [...mutants];
    const work = async () => {
        for (let next; (next = queue.shift()); ) counts[(await judge(next)) ? 'passed' : 'failed']++;
    };
    await Promise.all(Array.from({ length: CORES }, work));
    console.log(closingLine(counts));
    if (counts.failed > 0) process.exitCode = 1;
});
