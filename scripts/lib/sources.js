/** The project's own files, by git's word: what is ignored is not ours. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './paths.js';
import { read } from './run.js';

/**
 * Paths from the repository's root, of files that exist.
 * @param {...string} patterns As git's: `wasm/**.cpp`.
 */
export function sources(...patterns) {
    const options = ['--cached', '--others', '--exclude-standard', '--deduplicate'];
    const listed = read('git', ['-C', repository, 'ls-files', ...options, '--', ...patterns]);
    return (listed ?? '').split('\n').filter((path) => path && existsSync(join(repository, path)));
}
