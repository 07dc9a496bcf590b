/** Tells builds of the package apart: JavaScript and wasm of two builds would misunderstand each other. */

import { TabacusError } from '../common/errors.js';
import { buildNumber } from './generated/build.js';

const hashBits = 24;
const patchBits = 10;

/**
 * A build as a message names it: the version of the package, and a hash of what crosses the bridge.
 *
 * @param {unknown} build
 * @returns {string | undefined} undefined if it is not the number of a build
 */
function nameOf(build) {
    if (!Number.isSafeInteger(build) || Number(build) < 2 ** hashBits) return undefined;
    const version = Math.floor(Number(build) / 2 ** hashBits);
    const numbers = [
        version >> (2 * patchBits),
        (version >> patchBits) % 2 ** patchBits,
        version % 2 ** patchBits,
    ];
    const hash = (Number(build) % 2 ** hashBits).toString(16).padStart(hashBits / 4, '0');
    return `tabacus ${numbers.join('.')} (build ${hash})`;
}

/**
 * @param {() => unknown} read the number of the build that the wasm is of. It may throw: wasm of another build may
 *   lack the export
 * @throws {TabacusError} `version-mismatch` if that is another build than this module's
 */
export function checkBuild(read) {
    let build;
    try {
        build = read();
    } catch {
        // It is reported as one that cannot be told.
    }
    if (build === buildNumber) return;
    throw new TabacusError(
        'version-mismatch',
        `the JavaScript is of ${nameOf(buildNumber)}, and the wasm is of ${nameOf(build) ?? 'another build'}: all files must come from one build, so serve and cache them together, and reload the page`,
    );
}
