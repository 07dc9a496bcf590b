/** node_modules as the lock file says, by `npm ci` where they are missing or stale. */

import { lstatSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { command, run } from './run.js';
import { whenStale } from './stamp.js';

const folder = join(repository, 'node_modules');

/** npm writes this file last, from what it installed. */
const installed = join(folder, '.package-lock.json');

export async function nodeModules() {
    const product = {
        name: 'node-modules',
        inputs: ['package.json', 'package-lock.json'].map((name) => join(repository, name)),
        outputs: [installed],
    };
    await withLock(join(buildFolder, 'node-modules.lock'), () =>
        whenStale(product, () => {
            unlinkIfLink(folder);
            return step('npm ci', () => run(command('npm', ['ci']), join(logFolder, 'npm-ci.log')));
        }),
    );
}

/**
 * `npm ci` would empty what a link leads to, which is another clone's.
 * @param {string} path
 */
function unlinkIfLink(path) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(path);
}

/** @param {string} name A command that a development dependency brings. */
export const bin = (name) => join(folder, '.bin', name);
