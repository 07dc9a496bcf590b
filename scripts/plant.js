/**
 * node scripts/plant.js [word…]: each fault of tests/mutation/emulator.js and shared.js (those whose words contain one that is
 * given) is planted in a copy of js/, which is bundled and tried by its test: the test must fail.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PLANTED as EMULATOR } from '../tests/mutation/emulator.js';
import { PLANTED as SHARED } from '../tests/mutation/shared.js';
import { Failure, main } from './lib/failure.js';
import { buildFolder, distFolder, repository } from './lib/paths.js';
import { planted } from './lib/planted-text.js';

const PLANTED = [...EMULATOR, ...SHARED];

/** A test that a fault makes hang has failed. */
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
    const { build } = await import('esbuild');
    await build({
        entryPoints: {
            'tabacus-emulator': join(folder, 'js/emulator.js'),
            'tabacus-threads': join(folder, 'js/threads.js'),
            'tabacus-worker': join(folder, 'js/worker.js'),
        },
        outdir: join(folder, 'dist/node'),
        bundle: true,
        format: 'esm',
        platform: 'node',
        external: ['fake-indexeddb'],
        plugins: [forNode],
    });
}

/** As scripts/lib/pack.js: the glue stays beside the bundle. @type {import('esbuild').Plugin} */
const forNode = {
    name: 'node',
    setup({ onResolve }) {
        onResolve({ filter: /\.web\.js$/ }, ({ path, resolveDir }) => ({
            path: join(resolveDir, path.replace('.web.', '.node.')),
        }));
        onResolve(
            { filter: /^\.\/(threads|single|catalogue|lab|emulator|locks|limits|queue)\.js$/ },
            ({ importer, path }) =>
                importer.endsWith('load.node.js') ? { path, external: true } : undefined,
        );
    },
};

/** @param {string} test @returns {boolean} whether it passes */
function passes(test) {
    const args = ['--test', `--test-timeout=${timeout_ms}`, join(folder, `tests/node/${test}.test.js`)];
    return spawnSync(process.execPath, args, { timeout: timeout_ms, stdio: 'ignore' }).status === 0;
}

/** @param {import('../tests/mutation/emulator.js').Planted} fault @returns {Promise<boolean>} whether it was killed */
async function killed({ file, find, replace, test }) {
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8');
    const faulty = planted(source, find, replace);
    if (faulty === undefined) throw new Failure(`${file} must contain exactly once: ${find}`);
    writeFileSync(path, faulty);
    try {
        await bundle();
        return !passes(test);
    } finally {
        writeFileSync(path, source);
    }
}

await main(async () => {
    const words = process.argv.slice(2);
    makeReady();
    await bundle();
    const chosen = PLANTED.filter(
        ({ fault, file }) => words.length === 0 || words.some((word) => `${file} ${fault}`.includes(word)),
    );
    for (const test of new Set(chosen.map((one) => one.test))) {
        if (!passes(test)) throw new Failure(`${test} fails with nothing planted`);
    }
    let survived = 0;
    for (const fault of chosen) {
        const dead = await killed(fault);
        if (!dead) ++survived;
        console.log(`${dead ? 'killed  ' : 'SURVIVED'} ${fault.fault}`);
    }
    console.log(`${chosen.length - survived} of ${chosen.length} planted faults are killed`);
    if (survived > 0) throw new Failure('a planted fault was not killed');
});
