/** npm run bench [-- --json]: installs what is missing, builds, and measures the package and its peers. */

import { join } from 'node:path';
import '../bench/lib/options.js'; // ends a run with a bad option
import { browsers } from './lib/browsers.js';
import { build, WASM_PRESETS } from './lib/cmake.js';
import { main } from './lib/failure.js';
import { pack } from './lib/pack.js';
import { repository } from './lib/paths.js';
import { command, show } from './lib/run.js';
import { toolchain } from './lib/toolchain.js';

await main(async () => {
    await toolchain();
    await browsers();
    for (const preset of WASM_PRESETS) await build(preset);
    await build('wasm-threads', ['bench']);
    await build('native-release', ['tabacus_bench']);
    await pack();
    const entry = join(repository, 'bench/run.js');
    process.exitCode = await show(command(process.execPath, [entry, ...process.argv.slice(2)]));
});
