/** Unpacks an earlier version of the package, as npm published it. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Unpacks a tarball into a temporary folder, which exists until the process exits.
 *
 * @param {URL} tarball
 * @returns {URL} the folder of the package
 */
export function unpackVersion(tarball) {
    const folder = mkdtempSync(join(tmpdir(), 'tabacus-version-'));
    // Its modules import others when a feature is first used, so the files must outlive this call.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    execFileSync('tar', ['-xzf', fileURLToPath(tarball), '-C', folder]);
    return pathToFileURL(join(folder, 'package/'));
}
