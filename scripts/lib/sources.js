/** Lists the project's own files: those that git does not ignore. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { read } from './run.js';

/**
 * The paths of the files that exist, from the repository's root.
 * @param {...string} patterns in the syntax of git's pathspecs, such as `wasm/**.cpp`; all files if there is none
 * @throws {Failure} if git cannot list the files
 */
export function sources(...patterns) {
    const options = ['--cached', '--others', '--exclude-standard', '--deduplicate'];
    const listed = read('git', ['-C', repository, 'ls-files', ...options, '--', ...patterns]);
    if (listed === undefined) {
        throw new Failure('git ls-files failed: run it in a checkout that git trusts (safe.directory)');
    }
    return listed.split('\n').filter((path) => path && existsSync(join(repository, path)));
}
