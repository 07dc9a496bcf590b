/**
 * Writes dist/types: the declarations of the public modules, which tsc makes from their JSDoc, and those of the wasm
 * modules that embind binds. emcc writes the latter, and tsc does not copy them.
 */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateBridge } from './bridge-generator.js';
import { bin, nodeModules } from './node-modules.js';
import { buildFolder, distFolder, logFolder, repository } from './paths.js';
import { makePortable } from './portable-types.js';
import { step } from './progress.js';
import { command, run } from './run.js';

export async function types() {
    await nodeModules();
    generateBridge();
    const config = join(repository, 'tsconfig.types.json');
    await step('types', async () => {
        const folder = join(distFolder, 'types');
        rmSync(folder, { recursive: true, force: true });
        await run(command(bin('tsc'), ['--project', config]), join(logFolder, 'types.log'));
        cpSync(join(buildFolder, 'wasm-single/types'), folder, { recursive: true });
        makePortable(folder);
    });
}
