/** The project's own files, by git's word: what is ignored is not ours. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { read } from './run.js';

/**
 * Paths from the repository's root, of files that exist.
 * @param {...string} patterns As git's: `wasm/**.cpp`.
 */
export function sources(...patterns) {
    const options = ['--cached', '--others', '--exclude-standard', '--deduplicate'];
    const listed = read('git', ['-C', repository, 'ls-files', ...options, '--', ...patterns]);
    if (listed === undefined) {
        throw new Failure('git ls-files failed: run it in a checkout that git trusts (safe.directory)');
    }
    return listed.split('\n').filter((path) => path && existsSync(join(repository, path)));
}
