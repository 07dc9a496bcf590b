/** Builds the presets of CMake in the toolchain. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateBridge } from './bridge-generator.js';
import { withLock } from './lock.js';
import { buildFolder, logFolder } from './paths.js';
import { step } from './progress.js';
import { run } from './run.js';
import { splitProgram } from './split-program.js';
import { toolchain } from './toolchain.js';

export const WASM_PRESETS = ['wasm-threads', 'wasm-single'];
export const NATIVE_PRESETS = ['native-debug', 'native-tsan', 'native-asan', 'native-release'];

/**
 * Configures, then builds what has changed.
 * @param {string} preset
 * @param {string[]} [targets] all targets if left out
 */
export async function build(preset, targets = []) {
    const tools = await toolchain();
    const log = join(logFolder, `build-${preset}.log`);
    await withLock(join(buildFolder, `${preset}.lock`), () =>
        step(`build ${[preset, ...targets].join(' ')}`, async () => {
            rmSync(log, { force: true });
            generateBridge();
            await configure(tools, preset, log);
            const chosen = targets.flatMap((target) => ['--target', target]);
            await run(tools.command('cmake', ['--build', '--preset', preset, ...chosen]), log);
            if (preset === 'wasm-single') await splitProgram(tools);
        }),
    );
}

/**
 * Configures a build. CMake and Ninja see every change but that of a compiler which is replaced under the same path,
 * so the identity of the toolchain is part of every compile command (CMakeLists.txt).
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string} preset
 * @param {string} log
 */
async function configure(tools, preset, log) {
    const args = ['--preset', preset, `-DTABACUS_TOOLCHAIN=${tools.id}`];
    const isWasm = WASM_PRESETS.includes(preset);
    await run(isWasm ? tools.command('emcmake', ['cmake', ...args]) : tools.command('cmake', args), log);
}
