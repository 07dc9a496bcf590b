/** A build from the same wasm makes the same bytes of dist/, also in another folder. */

import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises';
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

it('a build of dist/ in another folder makes the same bytes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tabacus-again-'));
    try {
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
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
});
