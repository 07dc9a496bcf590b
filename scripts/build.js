/**
 * node scripts/build.js [part…]: builds what has changed.
 *
 *   package   dist/, with its types: what npm publishes (the default)
 *   wasm      the wasm programs, and dist/ without its types
 *   js        dist/ without its types, from the wasm programs of an earlier build
 *   types     dist/types
 *   bench     the modules that the benchmarks need
 *   tests     the module that tests of C++ threads need
 *   native    every native build
 *
 * The name of a preset, native-… or wasm-…, builds that preset only.
 */

import { build, NATIVE_PRESETS, WASM_PRESETS } from './lib/cmake.js';
import { Failure, main } from './lib/failure.js';
import { pack } from './lib/pack.js';
import { types } from './lib/types.js';

/** @param {string[]} presets */
const buildAll = async (presets) => {
    for (const preset of presets) await build(preset);
};

const wasm = async () => {
    await buildAll(WASM_PRESETS);
    await pack();
};

/** @type {Record<string, () => Promise<unknown>>} */
const parts = {
    package: () => wasm().then(types),
    wasm,
    js: pack,
    types,
    bench: () => wasm().then(() => build('wasm-threads', ['bench'])),
    tests: () => wasm().then(() => build('wasm-threads', ['storers'])),
    native: () => buildAll(NATIVE_PRESETS),
    ...Object.fromEntries(
        [...NATIVE_PRESETS, ...WASM_PRESETS].map((preset) => [preset, () => build(preset)]),
    ),
};

await main(async () => {
    const chosen = process.argv.slice(2);
    for (const name of chosen.length > 0 ? chosen : ['package']) {
        const part = parts[name];
        if (!part)
            throw new Failure(`unknown part "${name}"; choose one of: ${Object.keys(parts).join(', ')}`);
        await part();
    }
});
