/** The paths of the repository, its build folder and the user's cache. */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder, without a slash at its end. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export const buildFolder = join(repository, 'build');
export const distFolder = join(repository, 'dist');
export const logFolder = join(buildFolder, 'logs');

/** The cache. It is outside of the repository, so that a second clone finds what the first one made. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tabacus');
