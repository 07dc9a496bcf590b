/**
 * The toolchain that builds everything in C++: that of the machine if its emcc is new enough, else that of a root in
 * the user's cache.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from './enter.js';
import { Failure } from './failure.js';
import { CATCH2, EMSCRIPTEN_MIN, RECIPE, TOOLS } from './recipe.js';
import { emscriptenMajor, rootNeeds, toolchainRoot } from './root.js';
import { command, has, read } from './run.js';

/**
 * @typedef {object} Toolchain
 * @property {string} id the identity of the compilers: if it changes, everything is compiled anew
 * @property {(file: string, args?: string[]) => import('./run.js').Command} command
 */

/** @type {Promise<Toolchain> | undefined} */
let found;

/** Returns the toolchain. Makes it first if it is missing. */
export const toolchain = () => (found ??= find());

/** Installs what making the toolchain needs. It is a stage of its own, since only one apt-get can run at a time. */
export async function toolchainNeeds() {
    if (emscriptenMajor(read('emcc', ['--version'])) < EMSCRIPTEN_MIN) await rootNeeds();
}

/** @returns {Promise<Toolchain>} */
async function find() {
    const version = read('emcc', ['--version']);
    if (emscriptenMajor(version) >= EMSCRIPTEN_MIN) return ofTheHost(/** @type {string} */ (version));
    const root = await toolchainRoot();
    return {
        id: RECIPE,
        command: (file, args = []) => ({ ...inRoot(root, file, args), yields: true }),
    };
}

/** @type {Record<string, string>} */
const packages = { ninja: 'ninja-build', 'clang++': 'clang', 'wasm-ld': 'lld' };

/**
 * @param {string} version
 * @returns {Toolchain}
 */
function ofTheHost(version) {
    const missing = TOOLS.filter((tool) => tool !== 'wasm-ld' && !has(tool));
    const lines = missing.map((tool) => `${tool} is missing: install ${packages[tool] ?? tool}.`);
    if (!hasCatch2()) lines.push('Catch2 3 is missing: install catch2 (3.0 or newer).');
    if (lines.length > 0) throw new Failure(lines.join('\n  '));
    return { id: version, command: (file, args) => command(file, args, { yields: true }) };
}

/** Whether a folder in which CMake looks contains the CMake package of Catch2. */
function hasCatch2() {
    const prefixes = (process.env.CMAKE_PREFIX_PATH ?? '').split(':').filter(Boolean);
    const folders = [
        ...CATCH2,
        ...prefixes.flatMap((prefix) => [join(prefix, 'lib'), join(prefix, 'share')]),
    ];
    return folders
        .flatMap((folder) => [folder, ...subfolders(folder)])
        .some((folder) => existsSync(join(folder, 'cmake/Catch2')) || existsSync(join(folder, 'Catch2')));
}

/** The subfolders for machine architectures, which Debian has. @param {string} folder */
const subfolders = (folder) =>
    existsSync(folder)
        ? readdirSync(folder)
              .filter((name) => name.includes('-linux-'))
              .map((name) => join(folder, name))
        : [];
