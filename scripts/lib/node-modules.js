/** node_modules as the lock file says, by `npm ci` where they are missing or older. */

import { lstatSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { command, run } from './run.js';

const folder = join(repository, 'node_modules');

export async function nodeModules() {
    await withLock(join(buildFolder, 'node-modules.lock'), () => {
        if (isCurrent()) return undefined;
        unlinkIfLink(folder);
        return step('npm ci', () => run(command('npm', ['ci']), join(logFolder, 'npm-ci.log')));
    });
}

/** npm writes node_modules/.package-lock.json last, from what it installed. */
function isCurrent() {
    const installed = statSync(join(folder, '.package-lock.json'), { throwIfNoEntry: false });
    return !!installed && installed.mtimeMs >= statSync(join(repository, 'package-lock.json')).mtimeMs;
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
