/** CMake builds, one a preset, in the toolchain. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { run } from './run.js';
import { whenStale } from './stamp.js';
import { toolchain } from './toolchain.js';

export const WASM_PRESETS = ['wasm-threads', 'wasm-single'];
export const NATIVE_PRESETS = ['native-debug', 'native-tsan', 'native-asan', 'native-release'];

/**
 * Configures where needed, then builds what has changed.
 * @param {string} preset
 * @param {string[]} [targets] All if left out.
 */
export async function build(preset, targets = []) {
    const tools = await toolchain();
    const log = join(logFolder, `build-${preset}.log`);
    await withLock(join(buildFolder, `${preset}.lock`), () =>
        step(`build ${[preset, ...targets].join(' ')}`, async () => {
            rmSync(log, { force: true });
            await configure(tools, preset, log);
            const chosen = targets.flatMap((target) => ['--target', target]);
            await run(tools.command('cmake', ['--build', '--preset', preset, ...chosen]), log);
        }),
    );
}

/**
 * CMake itself sees changes in its own files; we see those of the presets and of the toolchain.
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string} preset
 * @param {string} log
 */
async function configure(tools, preset, log) {
    const folder = join(buildFolder, preset);
    const name = `configure-${preset}`;
    const inputs = [tools.id, join(repository, 'CMakePresets.json')];
    const outputs = [join(folder, 'CMakeFiles/cmake.check_cache')]; // the same after each regeneration
    await whenStale({ name, inputs, outputs }, async () => {
        rmSync(folder, { recursive: true, force: true });
        const cmake = ['cmake', '--preset', preset];
        const isWasm = WASM_PRESETS.includes(preset);
        await run(isWasm ? tools.command('emcmake', cmake) : tools.command('cmake', cmake.slice(1)), log);
    });
}
