/**
 * The toolchain's recipe: which Debian, which packages. Its hash marks the roots made by it, so
 * that a changed recipe makes a new one.
 */

import { createHash } from 'node:crypto';

/** Older ones write modules that Node does not load or that bundlers refuse. */
export const EMSCRIPTEN_MIN = 6;

/** Debian testing's name when this was written: a name keeps its Emscripten, "testing" moves on. */
export const SUITE = 'forky';

/** debootstrap's script: Debian 12's has none named forky, and sid's is what forky's links to. */
export const DEBOOTSTRAP_SCRIPT = 'sid';

export const PACKAGES = [
    'emscripten',
    'cmake',
    'ninja-build',
    'clang',
    'clang-tidy-22', // the first that passes over what is not ours: half the time
    'clang-format',
    'lld',
    'catch2',
    'libclang-rt-dev', // the sanitizers' runtime
];

/** Commands that go by their version in Debian, and what we call them. */
export const LINKS = Object.freeze({ 'clang-tidy': 'clang-tidy-22' });

/** The commands that a complete toolchain has. */
export const TOOLS = ['emcc', 'cmake', 'ninja', 'clang++', 'clang-tidy', 'clang-format', 'wasm-ld'];

/** Where Catch2's CMake package may be. */
export const CATCH2 = ['/usr/lib', '/usr/local/lib', '/usr/share', '/usr/local/share', '/usr/lib64'];

export const RECIPE = createHash('sha256')
    .update(JSON.stringify([SUITE, DEBOOTSTRAP_SCRIPT, PACKAGES, LINKS, process.arch]))
    .digest('hex');
