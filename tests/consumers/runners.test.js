/**
 * A test of cross-tab code under Node's runner, Vitest and Jest: the right recipe passes, and the wrong one
 * fails with a trace.
 */

import assert from 'node:assert/strict';
import { cp, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { fixtures, install, repository, run } from './package.js';

/** @typedef {Record<string, { passed: boolean, output: string }>} Results the outcome of each test, by its name */

/** @param {string} name */
const dependency = (name) => join(repository, 'node_modules', name);

/** Reads the report that both Vitest and Jest write. @param {string} json @returns {Results} */
function ofJest(json) {
    const tests = JSON.parse(json).testResults.flatMap((/** @type {any} */ file) => file.assertionResults);
    return Object.fromEntries(
        tests.map((/** @type {any} */ { title, status, failureMessages }) => [
            title,
            { passed: status === 'passed', output: failureMessages.join('\n') },
        ]),
    );
}

/** @param {string} tap the diagnosis of a test follows its line @returns {Results} */
function ofTap(tap) {
    const parts = tap.matchAll(/^(not )?ok \d+ - (.*)$([^]*?)(?=^(?:not )?ok|^# tests|$(?![^]))/gm);
    return Object.fromEntries([...parts].map(([, not, name, output]) => [name, { passed: !not, output }]));
}

const RUNNERS = [
    {
        name: 'node-test',
        args: ['--test', '--test-reporter=tap', 'runners/node-test/basket.test.js'],
        read: ofTap,
    },
    {
        name: 'vitest',
        args: [dependency('vitest/vitest.mjs'), 'run', '--reporter=json', '--dir=runners/vitest'],
        read: ofJest,
    },
    {
        name: 'jest',
        args: [
            '--experimental-vm-modules',
            dependency('jest/bin/jest.js'),
            ...[
                '--json',
                '--transform={}',
                '--no-watchman',
                '--runInBand',
                '--cacheDirectory=cache',
                'runners/jest',
            ],
        ],
        read: ofJest,
    },
];

/** The options of each runner whose fake timers replace the timers of the process. */
const WITH_FAKE_TIMERS = {
    Jest: [
        '--experimental-vm-modules',
        dependency('jest/bin/jest.js'),
        ...['--json', '--transform={}', '--no-watchman', '--runInBand', '--cacheDirectory=cache'],
        'fake-timers/jest',
    ],
    // Vitest fakes process.nextTick() only in threads.
    Vitest: [
        dependency('vitest/vitest.mjs'),
        ...['run', '--pool=threads', '--reporter=json', '--dir=fake-timers/vitest'],
    ],
};

/** The environment, without the variables of the runner that runs this test. */
const env = Object.fromEntries(
    Object.entries(process.env).filter(
        ([name]) => !/^(NODE_TEST_CONTEXT|NODE_OPTIONS|FORCE_COLOR|npm_.*)$/.test(name),
    ),
);

describe('A test of cross-tab code', () => {
    /** @type {import('./package.js').Installed} */
    let installed;
    before(async () => {
        installed = await install();
        await cp(join(fixtures, 'runners'), join(installed.folder, 'runners'), { recursive: true });
        await cp(join(fixtures, 'fake-timers'), join(installed.folder, 'fake-timers'), { recursive: true });
        for (const name of ['vitest', 'fake-indexeddb'])
            await symlink(dependency(name), join(dirname(installed.root), name));
    });
    after(() => installed?.remove());

    for (const { name, args, read } of RUNNERS) {
        it(`the test passes for the right recipe and fails for the wrong one under ${name}`, async () => {
            const options = { cwd: installed.folder, env: { ...env, NO_COLOR: '1' }, timeout: 60_000 };
            const ended = await run(process.execPath, args, options).catch((error) => error);
            assert.equal(ended.code, 1, `exactly one of the tests must fail: ${ended.stderr}`);
            const results = read(ended.stdout);
            assert.deepEqual(Object.keys(results), ['keyed: nothing is lost', 'locked: nothing is lost']);
            const { 'keyed: nothing is lost': right, 'locked: nothing is lost': broken } = results;
            assert.equal(right?.passed, true, right?.output);
            assert.equal(broken?.passed, false);
            for (const line of [
                /tab 1 +is granted the lock basket/,
                /tab 2 +reads basket: nothing/,
                /something is lost/,
            ]) {
                assert.match(broken?.output ?? '', line);
            }
        });
    }

    for (const [name, args] of Object.entries(WITH_FAKE_TIMERS)) {
        it(`the fake timers of ${name} change no hash of an exploration, and receive no timer`, async () => {
            const options = { cwd: installed.folder, env: { ...env, NO_COLOR: '1' }, timeout: 60_000 };
            const ended = await run(process.execPath, args, options).catch((error) => error);
            assert.deepEqual(
                ofJest(ended.stdout),
                {
                    'fakes before the import do no harm': { passed: true, output: '' },
                    'fakes after the import do no harm': { passed: true, output: '' },
                },
                ended.stderr,
            );
        });
    }
});

/** The options of each runner for a page of jsdom, with the one line that docs/set-ups.md has for it. */
const IN_JSDOM = {
    Jest: [
        '--experimental-vm-modules',
        dependency('jest/bin/jest.js'),
        '--config=jsdom/jest.config.json',
        '--rootDir=.',
        '--json',
        '--no-watchman',
        '--runInBand',
        'jsdom',
    ],
    Vitest: [
        dependency('vitest/vitest.mjs'),
        'run',
        '--globals',
        '--environment=jsdom',
        '--reporter=json',
        '--dir=jsdom',
    ],
};

describe('A component’s test in a page of jsdom', () => {
    /** @type {import('./package.js').Installed} */
    let installed;
    before(async () => {
        installed = await install();
        await cp(join(fixtures, 'jsdom'), join(installed.folder, 'jsdom'), { recursive: true });
        for (const name of ['jsdom', 'jest-environment-jsdom', 'vitest'])
            await symlink(dependency(name), join(dirname(installed.root), name));
    });
    after(() => installed?.remove());

    for (const [name, args] of Object.entries(IN_JSDOM)) {
        it(`a tab counts and runs a function under a lock with ${name}`, async () => {
            const options = { cwd: installed.folder, env: { ...env, NO_COLOR: '1' }, timeout: 60_000 };
            const ended = await run(process.execPath, args, options).catch((error) => error);
            assert.deepEqual(ofJest(ended.stdout), {
                'a tab counts and runs a function under a lock': { passed: true, output: '' },
            });
        });
    }
});
