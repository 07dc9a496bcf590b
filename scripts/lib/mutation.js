/** Checks that the test named in tests/mutation/mutants.js kills each planted fault. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './cmake.js';
import { NOTHING } from './counts.js';
import { control, PRESET, tryMutant } from './mutant.js';
import { logFolder } from './paths.js';
import { seconds, step } from './progress.js';

/** @typedef {import('./mutant.js').Mutant} Mutant */

const FATES = {
    survived: 'SURVIVED',
    'not found': 'the file does not contain the text to replace exactly once',
    'not built': 'does not compile',
};

/**
 * @param {Mutant} mutant
 * @param {number} sound_s  how long its test takes without a fault, in seconds
 * @returns {Promise<boolean>} whether it was killed
 */
async function judge(mutant, sound_s) {
    const since_ms = Date.now();
    const log = join(logFolder, 'mutants', `${mutant.name}.log`);
    const fate = await tryMutant(mutant, log, sound_s);
    const outcome = fate === 'killed' ? `killed by “${mutant.test}”` : `${FATES[fate]} (${log})`;
    console.log(`${fate === 'killed' ? '✓' : '✗'} ${mutant.name}: ${outcome} (${seconds(since_ms)})`);
    return fate === 'killed';
}

/**
 * @param {Mutant[]} mutants
 * @param {number} cores
 * @returns {Promise<import('./counts.js').Counts>} killed faults count as passed, all others as failed
 */
export async function tryMutants(mutants, cores) {
    await build(PRESET, ['tabacus_tests']);
    const logs = join(logFolder, 'mutants');
    rmSync(logs, { recursive: true, force: true });
    mkdirSync(logs, { recursive: true });
    const sound = await step('the tests without a fault', () => control(mutants, join(logs, 'control.log')));
    const counts = { ...NOTHING };
    const queue = [...mutants];
    const work = async () => {
        for (let next; (next = queue.shift());) {
            counts[(await judge(next, sound.get(next.test) ?? 0)) ? 'passed' : 'failed']++;
        }
    };
    await Promise.all(Array.from({ length: cores }, work));
    return counts;
}
