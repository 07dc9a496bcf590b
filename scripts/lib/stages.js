/**
 * The stages of `npm test`: those that install, those that build, and those that check something. A stage reports the
 * counts of its test runner; each linter counts as one check.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MUTANTS } from '../../tests/mutation/mutants.js';
import { browsers } from './browsers.js';
import { checkClassSizes } from './class-sizes.js';
import { build } from './cmake.js';
import { catchCounts, NOTHING, sum } from './counts.js';
import { Failure } from './failure.js';
import { checkLengths } from './file-lengths.js';
import { buildLaterVersion } from './later-version.js';
import { clangFormat, clangTidy, eslint, prettier, tsc } from './lint.js';
import { PLANTED, tryPlanted } from './plant-faults.js';
import { checkLinks } from './links.js';
import { tryMutants } from './mutation.js';
import { computeMatrix, contradictions, deniedByMatrix } from './matrix.js';
import { nodeModules } from './node-modules.js';
import { nodeTestFiles, nodeTests } from './node-tests.js';
import { pack } from './pack.js';
import { buildFolder, logFolder } from './paths.js';
import { checkProse } from './prose.js';
import { run } from './run.js';
import { toolchain, toolchainNeeds } from './toolchain.js';
import { types } from './types.js';

/**
 * @typedef {(counts: import('./counts.js').Counts, skips?: string[]) => void} Report
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {string} [group] a name that chooses all stages of the group
 * @property {string[]} needs the names of the stages that must have succeeded before it
 * @property {number} cores how many cores it keeps busy; 0 if it mostly waits
 * @property {boolean} [checks] whether it checks something; other stages only prepare for those that do
 * @property {boolean} [proof] whether only `npm run proof` or its name chooses it, since it takes long and rarely
 *   fails
 * @property {(report: Report) => Promise<unknown>} run
 */

/** A stage that runs a linter. @param {() => Promise<unknown>} body rejects if the linter finds anything */
const check = (body) => async (/** @type {Report} */ report) => {
    await body();
    report({ ...NOTHING, passed: 1 });
};

/**
 * A stage that runs CTest.
 *
 * @param {string} preset
 * @param {string} name of the stage
 * @param {string[]} chosen the options by which CTest chooses tests
 */
const ctest = (preset, name, chosen) => async (/** @type {Report} */ report) => {
    const log = join(logFolder, `${name}.log`);
    const reports = join(buildFolder, preset, 'reports');
    for (const old of [log, reports]) rmSync(old, { recursive: true, force: true });
    mkdirSync(reports);
    const tools = await toolchain();
    try {
        await run(tools.command('ctest', ['--preset', preset, ...chosen]), log);
    } finally {
        const texts = readdirSync(reports).map((file) => readFileSync(join(reports, file), 'utf8'));
        report(sum(texts.map(catchCounts)));
    }
};

/** The stage that computes the matrix. Each cell counts as a check, and so does each strategy that real tabs broke. */
const matrix = async (/** @type {Report} */ report) => {
    const cells = await computeMatrix(process.env.TABACUS_PROOF ? 'usual' : 'brief');
    const wrong = [
        ...contradictions(cells),
        ...deniedByMatrix(cells).map(
            (row) => `${row} lost updates, but no cell without a fault calls it broken`,
        ),
    ];
    report({ ...NOTHING, passed: cells.length - wrong.length, failed: wrong.length });
    if (wrong.length > 0) throw new Failure(wrong.join('\n'));
};

const buildPackage = async () => {
    await pack();
    await types();
};

/** The tests of tabs of a later version beside tabs of this one. */
const LATER_TESTS = [
    'node/versions-newer',
    'node/versions-together',
    'browser/versions',
    'browser/versions-seeds',
].map((name) => `tests/${name}.test.js`);

/** The stage that builds a package of a later version, and runs its tabs in these tests. */
const laterVersion = async (/** @type {Report} */ report) => {
    const env = { TABACUS_LATER: await buildLaterVersion(), TABACUS_PROOF: '1' };
    await nodeTestFiles({ name: 'later-version', files: LATER_TESTS, concurrency: 1, env }, report);
};

/** A stage that plants faults; each must be killed. @param {() => Promise<import('./counts.js').Counts>} plant */
const killing = (plant) => async (/** @type {Report} */ report) => {
    const counts = await plant();
    report(counts);
    if (counts.failed > 0)
        throw new Failure(`${counts.failed} planted faults were not killed: see the lines above`);
};

/** `npm test` tries one planted fault of this many; `npm run proof` tries all. */
const MUTANTS_STEP = 16;

const NATIVE = ['native-debug', 'native-tsan', 'native-asan'];
const PACKAGE = ['package', 'npm-ci'];

/** All stages, in the order of preference if several could run. @type {Stage[]} */
export const STAGES = [
    { name: 'toolchain-needs', needs: [], cores: 0, run: toolchainNeeds },
    { name: 'toolchain', needs: ['toolchain-needs'], cores: 0, run: toolchain },
    { name: 'npm-ci', needs: [], cores: 0, run: nodeModules },
    { name: 'browsers', needs: ['toolchain-needs'], cores: 0, run: browsers },

    {
        name: 'build-wasm-threads',
        needs: ['toolchain'],
        cores: 2,
        run: () => build('wasm-threads', ['all', 'storers']),
    },
    { name: 'build-wasm-single', needs: ['toolchain'], cores: 2, run: () => build('wasm-single') },
    {
        name: 'package',
        needs: ['build-wasm-threads', 'build-wasm-single', 'npm-ci'],
        cores: 1,
        run: buildPackage,
    },
    ...NATIVE.map((preset) => ({
        name: `build-${preset}`,
        needs: ['toolchain'],
        cores: 2,
        run: () => build(preset),
    })),
    {
        name: 'build-native-release',
        needs: ['toolchain'],
        cores: 2,
        run: () => build('native-release', ['tabacus_tests', 'tabacus_matrix']),
    },

    {
        name: 'clang-format',
        group: 'lint',
        needs: ['toolchain'],
        cores: 1,
        run: check(clangFormat),
        checks: true,
    },
    {
        name: 'prettier',
        group: 'lint',
        needs: ['npm-ci'],
        cores: 1,
        run: check(prettier),
        checks: true,
    },
    {
        name: 'links',
        group: 'lint',
        needs: [],
        cores: 1,
        run: check(checkLinks),
        checks: true,
    },
    {
        name: 'prose',
        group: 'lint',
        needs: [],
        cores: 1,
        run: check(checkProse),
        checks: true,
    },
    {
        name: 'lengths',
        group: 'lint',
        needs: [],
        cores: 1,
        run: check(checkLengths),
        checks: true,
    },
    {
        name: 'classes',
        group: 'lint',
        needs: [],
        cores: 1,
        run: check(checkClassSizes),
        checks: true,
    },
    {
        name: 'tsc',
        group: 'lint',
        needs: PACKAGE, // it reads the declarations in dist, as a user's editor does
        cores: 1,
        run: check(tsc),
        checks: true,
    },
    {
        name: 'eslint',
        group: 'lint',
        needs: ['npm-ci'],
        cores: 1,
        run: check(eslint),
        checks: true,
    },
    // The stage that takes longest begins first.
    {
        name: 'browser',
        needs: [...PACKAGE, 'browsers'],
        cores: 0, // it mostly waits, and the processes that compute have a lower priority
        run: (report) => nodeTests('browser', 1, report),
        checks: true,
    },
    {
        name: 'soak',
        needs: [...PACKAGE, 'browsers'],
        cores: 1,
        run: (report) => nodeTests('soak', 1, report),
        checks: true,
    },
    ...NATIVE.map((preset) => ({
        name: preset,
        group: 'native',
        needs: [`build-${preset}`],
        cores: 1,
        run: ctest(preset, preset, []),
        checks: true,
        proof: preset === 'native-debug', // the release build has the same tests
    })),
    {
        name: 'clang-tidy',
        group: 'lint',
        needs: ['build-native-release', 'build-wasm-threads', 'build-wasm-single'],
        cores: 1,
        run: check(() => clangTidy(1)),
        checks: true,
    },
    {
        name: 'native-release',
        group: 'native',
        needs: ['build-native-release'],
        cores: 1,
        run: ctest('native-release', 'native-release', ['--label-exclude', 'long']),
        checks: true,
    },
    {
        name: 'native-long',
        needs: ['build-native-release', 'native-release'], // both write their reports into one folder
        cores: 1,
        run: ctest('native-release', 'native-long', ['--label-regex', 'long']),
        checks: true,
        proof: true,
    },
    {
        name: 'node',
        needs: PACKAGE,
        cores: 1,
        run: (report) => nodeTests('node', 1, report),
        checks: true,
    },
    {
        name: 'consumers',
        needs: [...PACKAGE, 'browsers'],
        cores: 1,
        run: (report) => nodeTests('consumers', 1, report),
        checks: true,
    },
    // These stages use all cores, but begin as soon as one is free.
    {
        name: 'matrix',
        needs: ['build-native-release'],
        cores: 1,
        run: matrix,
        checks: true,
    },
    {
        name: 'mutants-sample',
        needs: ['build-native-release'],
        cores: 1,
        run: killing(() =>
            tryMutants(
                MUTANTS.filter((_, i) => i % MUTANTS_STEP === 0),
                2,
            ),
        ),
        checks: true,
    },
    {
        name: 'mutants',
        needs: ['build-native-release'],
        cores: 2,
        run: killing(() => tryMutants(MUTANTS, 2)),
        checks: true,
        proof: true,
    },
    {
        name: 'planted',
        needs: PACKAGE,
        cores: 1,
        run: killing(() => tryPlanted(PLANTED)),
        checks: true,
        proof: true,
    },
    {
        name: 'later-version',
        needs: [...PACKAGE, 'browsers'],
        cores: 2,
        run: laterVersion,
        checks: true,
        proof: true,
    },
];
