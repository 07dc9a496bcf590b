/** Installs node_modules by `npm ci` where the folder is missing or older than the lock file. */

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

/** Whether the lock file is older than node_modules/.package-lock.json, which npm writes last when it installs. */
function isCurrent() {
    const installed = statSync(join(folder, '.package-lock.json'), { throwIfNoEntry: false });
    return !!installed && installed.mtimeMs >= statSync(join(repository, 'package-lock.json')).mtimeMs;
}

/**
 * Removes the folder if it is a link to that of another clone, which `npm ci` would empty.
 * @param {string} path
 */
function unlinkIfLink(path) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(path);
}

/** The path of a command that a development dependency installs. @param {string} name */
export const bin = (name) => join(folder, '.bin', name);
