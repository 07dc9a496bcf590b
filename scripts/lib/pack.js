/** Writes dist/: the public modules, bundled for each platform, and the wasm beside them. */

import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pieces } from '../../bridge/exports.js';
import { checkAttach } from './attach-check.js';
import { generateBridge } from './bridge-generator.js';
import { bundled } from './bundle.js';
import { CORES } from './glue.js';
import { generateGuarantees } from './guarantees.js';
import { withLock } from './lock.js';
import { nodeModules } from './node-modules.js';
import { buildFolder, distFolder } from './paths.js';
import { step } from './progress.js';

/** @type {import('./glue.js').Platform[]} */
const PLATFORMS = ['web', 'node'];

/** The modules that run in the memory of another module's program. */
const FREESTANDING = ['attach', 'store'];

/** The folder with the pieces of a tab's program. */
const PIECES = join(buildFolder, 'wasm-single/pieces');

/** Bundles the public modules, and copies the wasm that is built. */
export async function pack() {
    await nodeModules();
    generateBridge();
    await withLock(join(buildFolder, 'dist.lock'), async () => {
        await generateGuarantees();
        for (const platform of PLATFORMS) {
            const folder = join(distFolder, platform);
            mkdirSync(folder, { recursive: true });
            await step(`pack ${platform}`, async () => {
                const files = await bundled(platform);
                for (const old of readdirSync(folder)) {
                    if (/\.js(\.map)?$/.test(old) && !files.has(old)) rmSync(join(folder, old));
                }
                for (const [name, text] of files) writeFileSync(join(folder, name), text);
                copyWasm(folder);
            });
        }
        const folder = join(distFolder, 'debug');
        mkdirSync(folder, { recursive: true });
        for (const piece of Object.keys(pieces))
            copyFileSync(join(PIECES, `${piece}.debug.wasm`), join(folder, `${piece}.wasm`));
    });
}

/** @param {string} folder */
function copyWasm(folder) {
    for (const [core, preset] of Object.entries(CORES))
        copyFileSync(join(buildFolder, preset, `${core}.wasm`), join(folder, `${core}.wasm`));
    for (const piece of Object.keys(pieces))
        copyFileSync(join(PIECES, `${piece}.wasm`), join(folder, `${piece}.wasm`));
    for (const name of FREESTANDING) {
        const from = join(buildFolder, `wasm-threads/${name}.wasm`);
        if (!existsSync(from)) continue;
        checkAttach(from);
        copyFileSync(from, join(folder, `${name}.wasm`));
    }
}
