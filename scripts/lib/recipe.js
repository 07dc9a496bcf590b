/**
 * The recipe of the toolchain: which release of Debian and which packages. Each root is marked with the hash of its
 * recipe, so that a new root is made if the recipe has changed.
 */

import { createHash } from 'node:crypto';

/** The oldest version of Emscripten whose modules Node loads and bundlers accept. */
export const EMSCRIPTEN_MIN = 6;

/** The name of a release of Debian. A name is used since it keeps its Emscripten, whereas "testing" moves on. */
export const SUITE = 'forky';

/** The script that debootstrap runs. Debian 12 has none named forky; in later releases, forky is a link to sid. */
export const DEBOOTSTRAP_SCRIPT = 'sid';

export const PACKAGES = [
    'emscripten',
    'cmake',
    'ninja-build',
    'clang',
    'clang-tidy-22', // the first version that skips code outside of the project, in half the time
    'clang-format',
    'lld',
    'catch2',
    'libclang-rt-dev', // the sanitizers' runtime
];

/** Commands whose names contain a version in Debian, by the names under which the scripts run them. */
export const LINKS = Object.freeze({ 'clang-tidy': 'clang-tidy-22' });

/** The commands that a complete toolchain has. */
export const TOOLS = ['emcc', 'cmake', 'ninja', 'clang++', 'clang-tidy', 'clang-format', 'wasm-ld'];

/** The folders that may contain the CMake package of Catch2. */
export const CATCH2 = ['/usr/lib', '/usr/local/lib', '/usr/share', '/usr/local/share', '/usr/lib64'];

export const RECIPE = createHash('sha256')
    .update(JSON.stringify([SUITE, DEBOOTSTRAP_SCRIPT, PACKAGES, LINKS, process.arch]))
    .digest('hex');
