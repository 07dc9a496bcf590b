/**
 * npm run mutate [-- name…]: plants the faults of tests/mutation/mutants.js one by one. Each must be killed by the
 * test that its entry names. The run fails if a fault survives, or if the text that it replaces is not in its file.
 */

import { MUTANTS } from '../tests/mutation/mutants.js';
import { closingLine } from './lib/counts.js';
import { Failure, main } from './lib/failure.js';
import { tryMutants } from './lib/mutation.js';

const CORES = 2;

/** @param {string[]} names */
function chosen(names) {
    const unknown = names.find((name) => !MUTANTS.some((mutant) => mutant.name === name));
    if (unknown !== undefined)
        throw new Failure(`unknown mutant "${unknown}"; their names are in tests/mutation/mutants.js`);
    return names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
}

await main(async () => {
    const counts = await tryMutants(chosen(process.argv.slice(2)), CORES);
    console.log(closingLine(counts));
    if (counts.failed > 0) process.exitCode = 1;
});
