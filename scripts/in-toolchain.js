/** node scripts/in-toolchain.js <command> [argument…]: runs a command of the toolchain. */

import { Failure, main } from './lib/failure.js';
import { show } from './lib/run.js';
import { toolchain } from './lib/toolchain.js';

await main(async () => {
    const [file, ...args] = process.argv.slice(2);
    if (!file) throw new Failure('usage: node scripts/in-toolchain.js <command> [argument…]');
    process.exitCode = await show((await toolchain()).command(file, args));
});
