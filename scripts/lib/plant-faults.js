/**
 * Tries the faults planted in JavaScript. Each fault of tests/mutation/emulator.js, host.js and shared.js is planted in
 * a copy of js/; the copy is bundled, and the test of the fault runs over it. The test must fail.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PLANTED as EMULATOR } from '../../tests/mutation/emulator.js';
import { PLANTED as HOST } from '../../tests/mutation/host.js';
import { PLANTED as SHARED } from '../../tests/mutation/shared.js';
import { bundled } from './bundle.js';
import { NOTHING } from './counts.js';
import { Failure } from './failure.js';
import { buildFolder, distFolder, repository } from './paths.js';
import { patchSource } from './source-patch.js';

export const PLANTED = [...EMULATOR, ...HOST, ...SHARED];

/** The time after which a test that hangs because of a fault has failed. */
const timeout_ms = 60_000;

const folder = join(buildFolder, 'planted');

function makeReady() {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const part of ['package.json', 'tests/node', 'tests/programs', 'js', 'docs'])
        cpSync(join(repository, part), join(folder, part), { recursive: true });
    cpSync(join(distFolder, 'node'), join(folder, 'dist/node'), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
}

async function bundle() {
    const files = await bundled('node', { root: folder, small: false });
    for (const [name, text] of files) writeFileSync(join(folder, 'dist/node', name), text);
}

/** @param {string} test @returns {boolean} whether it passes */
function passes(test) {
    const args = ['--test', `--test-timeout=${timeout_ms}`, join(folder, `tests/node/${test}.test.js`)];
    return spawnSync(process.execPath, args, { timeout: timeout_ms, stdio: 'ignore' }).status === 0;
}

/**
 * @param {import('../../tests/mutation/emulator.js').Planted} fault
 * @returns {Promise<boolean>} whether it was killed
 */
async function killed({ file, find, replace, test }) {
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8');
    const faulty = patchSource(source, find, replace);
    if (faulty === undefined) throw new Failure(`${file} must contain this text exactly once: ${find}`);
    writeFileSync(path, faulty);
    try {
        await bundle();
        return !passes(test);
    } finally {
        writeFileSync(path, source);
    }
}

/**
 * @param {import('../../tests/mutation/emulator.js').Planted[]} chosen
 * @returns {Promise<import('./counts.js').Counts>} killed faults count as passed, all others as failed
 */
export async function tryPlanted(chosen) {
    makeReady();
    await bundle();
    for (const test of new Set(chosen.map((one) => one.test))) {
        if (!passes(test)) throw new Failure(`the test ${test} fails without a planted fault`);
    }
    const counts = { ...NOTHING };
    for (const fault of chosen) {
        const dead = await killed(fault);
        counts[dead ? 'passed' : 'failed']++;
        console.log(`${dead ? '✓ killed  ' : '✗ SURVIVED'} ${fault.fault}`);
    }
    return counts;
}
