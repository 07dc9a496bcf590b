/** dist/types: the declarations of the public modules, written by tsc from their JSDoc. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, nodeModules } from './node-modules.js';
import { distFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { command, run } from './run.js';
import { whenStale } from './stamp.js';

export async function types() {
    const js = join(repository, 'js');
    if (!existsSync(js)) return;
    await nodeModules();
    const config = join(repository, 'tsconfig.types.json');
    const out = join(distFolder, 'types');
    const lock = join(repository, 'package-lock.json');
    await whenStale({ name: 'types', inputs: [js, config, lock], outputs: [out] }, () =>
        step('types', async () => {
            rmSync(out, { recursive: true, force: true });
            await run(command(bin('tsc'), ['--project', config]), join(logFolder, 'types.log'));
        }),
    );
}
