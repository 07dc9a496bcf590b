/** npm run demo: installs what is missing, builds what has changed, and serves the demo. */

import { WASM_PRESETS, build } from './lib/cmake.js';
import { main } from './lib/failure.js';
import { pack } from './lib/pack.js';

await main(async () => {
    for (const preset of WASM_PRESETS) await build(preset);
    await pack();
    const { serveDemo } = await import('../web/demo.js');
    const port = process.env.PORT ? { port: Number(process.env.PORT) } : {};
    const { url } = await serveDemo(port);
    console.log(`\n  The demo is at ${url}\n  Open it in several tabs. Ctrl+C ends it.\n`);
});
