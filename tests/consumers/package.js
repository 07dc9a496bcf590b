/** The package as its users get it: packed, and installed in a temporary folder. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run = promisify(execFile);

export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url));

/** The environment for npm, without the variables of an outer npm script, which would change its configuration. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/**
 * @typedef {object} Installed
 * @property {string} folder  the folder of the consumer's project
 * @property {string} root  the folder of the package in it
 * @property {string} tarball
 * @property {string[]} files  the files in the tarball
 * @property {() => Promise<void>} remove
 */

/**
 * Packs and installs the package. The caller builds it before: packing must not start a build beside running tests.
 *
 * @returns {Promise<Installed>}
 */
export async function install() {
    const folder = await mkdtemp(join(tmpdir(), 'tabacus-consumer-'));
    const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const { stdout } = await run('npm', packing, { cwd: repository, env });
    const [{ filename, files }] = JSON.parse(stdout);
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const installing = ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`];
    await run('npm', installing, { cwd: folder, env });
    await mkdir(join(folder, 'src'));
    return {
        folder,
        root: join(folder, 'node_modules/tabacus'),
        tarball: join(folder, filename),
        files: files.map((/** @type {{ path: string }} */ { path }) => path).sort(),
        remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
    };
}
