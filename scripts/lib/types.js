/** dist/types: the declarations of the public modules, written by tsc from their JSDoc. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateBridge } from './bridge-generator.js';
import { bin, nodeModules } from './node-modules.js';
import { distFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { command, run } from './run.js';

export async function types() {
    await nodeModules();
    generateBridge();
    const config = join(repository, 'tsconfig.types.json');
    await step('types', async () => {
        rmSync(join(distFolder, 'types'), { recursive: true, force: true });
        await run(command(bin('tsc'), ['--project', config]), join(logFolder, 'types.log'));
    });
}
