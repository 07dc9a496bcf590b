/**
 * The speed of the explorer, in steps of simulated tabs. The native program is compared with its target, and the one
 * in WebAssembly with the native one.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { toolchain } from '../../scripts/lib/toolchain.js';

const NATIVE = fileURLToPath(new URL('../../build/native-release/', import.meta.url));

/** How many seconds the native program spends on each of its rows. */
const SECONDS = 2;

/** @returns {Promise<Record<string, number>>} steps per second, by row */
async function nativeRows() {
    const tools = await toolchain();
    const { file, args, env, cwd } = tools.command(join(NATIVE, 'tabacus_bench'), [String(SECONDS)]);
    const { stdout } = await promisify(execFile)(file, args, { env, cwd });
    const rows = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    return Object.fromEntries(rows.map(({ row, stepsPerSecond }) => [row, stepsPerSecond]));
}

/** Does in WebAssembly what the native row "seeds, replicated, 8 tabs" does. Returns steps a second. */
async function inWasm() {
    const { explore } = await import('tabacus/lab');
    const { steps, seconds } = await explore({
        strategy: 'replicated',
        tabs: 8,
        faults: ['kill'],
        work: 1, // no search, only seeds
        preemptions: 0,
        seeds: 3_000,
    });
    return steps / seconds;
}

/** @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function explore() {
    const native = await nativeRows();
    const million = 1e6;
    const seeds = native['seeds, replicated, 8 tabs'] ?? NaN;
    const rows = Object.entries(native).map(([name, rate]) => ({
        name: `explorer, ${name}`,
        unit: 'M steps/s',
        peer: 'the target',
        samples: { ours: [rate / million], peer: [1] },
        target: { least: 1 },
    }));
    const wasm = {
        name: 'explorer in WebAssembly, seeds, replicated, 8 tabs',
        unit: 'M steps/s',
        peer: 'native',
        samples: { ours: [(await inWasm()) / million], peer: [seeds / million] },
        target: { least: 1 / 3 },
    };
    return [...rows, wasm];
}
