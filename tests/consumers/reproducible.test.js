/** A build in another folder makes the same bytes: of the objects that the wasm is linked from, and of dist/. */

import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

import { repository, run } from './package.js';

/** The files that dist/ is made from. The folder of the dependencies is linked. */
const SOURCES = [
    'bridge',
    'docs',
    'js',
    'scripts',
    'wasm',
    'package.json',
    'package-lock.json',
    'tests/mutation',
];

/** @param {string} folder */
const filesOf = async (folder) => (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();

/** @param {string} folder */
async function copyTo(folder) {
    const options = { recursive: true, preserveTimestamps: true };
    for (const source of SOURCES) await cp(join(repository, source), join(folder, source), options);
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    for (const preset of ['wasm-single', 'wasm-single/pieces', 'wasm-threads']) {
        await mkdir(join(folder, 'build', preset), { recursive: true });
        for (const name of await filesOf(join(repository, 'build', preset))) {
            if (!/\.(js|wasm)$/.test(name)) continue;
            const file = join('build', preset, name);
            await cp(join(repository, file), join(folder, file), options);
        }
    }
}

/**
 * Calls `use` with a new folder, which is removed afterwards.
 *
 * @param {(folder: string) => Promise<void>} use
 */
async function inNewFolder(use) {
    const folder = await mkdtemp(join(tmpdir(), 'tabacus-again-'));
    try {
        await use(folder);
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
}

/** @param {string[]} command */
const inToolchain = (command) =>
    run(process.execPath, [join(repository, 'scripts/in-toolchain.js'), ...command]);

it('a unit of the protocols that is compiled in another folder has the same bytes', () =>
    inNewFolder(async (folder) => {
        const build = 'build/wasm-single';
        const units = 'CMakeFiles/tabacus_protocols.dir/Unity';
        const unit = 'unity_wasm_src_protocol_limit__0_cxx.cxx';
        const { stdout: commands } = await inToolchain([
            ...['ninja', '-C', join(repository, build), '-t', 'commands', '-s', `${units}/${unit}.o`],
        ]);
        const moved = (/** @type {string} */ text) => text.replaceAll(repository, `${folder}/`);
        const command = moved(commands.trim().split('\n').at(-1) ?? '');
        await cp(join(repository, 'wasm'), join(folder, 'wasm'), { recursive: true });
        await mkdir(join(folder, build, units), { recursive: true });
        const source = join(build, units, unit);
        await writeFile(join(folder, source), moved(await readFile(join(repository, source), 'utf8')));
        await inToolchain(['bash', '-c', `cd ${join(folder, build)} && ${command} </dev/null`]);
        const [one, same] = await Promise.all(
            [repository, folder].map((from) => readFile(join(from, `${source}.o`))),
        );
        assert.ok(one?.equals(/** @type {Buffer} */ (same)));
    }));

it('a build of dist/ in another folder makes the same bytes', () =>
    inNewFolder(async (folder) => {
        await copyTo(folder);
        await run(process.execPath, [join(folder, 'scripts/build.js'), 'js'], { cwd: folder });
        for (const platform of ['web', 'node']) {
            const [first, second] = [join(repository, 'dist', platform), join(folder, 'dist', platform)];
            const names = await filesOf(first);
            assert.deepEqual(await filesOf(second), names);
            for (const name of names) {
                const [one, same] = await Promise.all(
                    [first, second].map((from) => readFile(join(from, name))),
                );
                assert.ok(one?.equals(/** @type {Buffer} */ (same)), `${platform}/${name}`);
            }
        }
    }));
