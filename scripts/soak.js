/**
 * npm run soak -- [--minutes N] [--engine chromium|firefox|webkit] [--seed N] [--log file]
 *
 * Six real tabs perform random operations of every kind, while tabs are closed, crash, freeze and lose their databases.
 * At the end everything that was acknowledged is compared with what is there. docs/reality.md has the figures of a run.
 */

import { writeFileSync } from 'node:fs';
import { browsers } from './lib/browsers.js';
import { build, WASM_PRESETS } from './lib/cmake.js';
import { Failure, main } from './lib/failure.js';
import { nodeModules } from './lib/node-modules.js';
import { optionsOf } from './lib/options.js';
import { pack } from './lib/pack.js';
import { toolchain } from './lib/toolchain.js';

const MINUTES_MAX = 24 * 60;

const options = optionsOf({
    engine: { type: 'string', default: 'chromium' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
});

/** Checks the arguments before anything is built. */
function checked() {
    const [minutes, seed] = [Number(options.minutes), Number(options.seed)];
    if (!(minutes > 0 && minutes <= MINUTES_MAX))
        throw new Failure(
            `--minutes must be above 0 and at most ${MINUTES_MAX}, but is "${options.minutes}"`,
        );
    if (!Number.isSafeInteger(seed)) throw new Failure(`--seed must be an integer, but is "${options.seed}"`);
    const engines = ['chromium', 'firefox', 'webkit'];
    if (!engines.includes(options.engine))
        throw new Failure(`unknown engine "${options.engine}"; choose one of: ${engines.join(', ')}`);
    return { minutes, seed, name: /** @type {'chromium' | 'firefox' | 'webkit'} */ (options.engine) };
}

await main(async () => {
    const { minutes, seed, name } = checked();
    await nodeModules();
    await toolchain();
    await browsers();
    for (const preset of WASM_PRESETS) await build(preset);
    await pack();
    const { ENGINES } = await import('../tests/browser/harness/engines.js');
    const { check } = await import('../tests/soak/check.js');
    const { EventLog } = await import('../tests/soak/event-log.js');
    const { soak } = await import('../tests/soak/soak.js');
    const engine = ENGINES[name];
    if (engine.missing) throw new Failure(engine.missing);
    console.log(`${engine.name}, ${minutes} minutes, seed ${seed}`);
    const progress = (/** @type {string} */ line) => void process.stderr.write(`· ${line}\n`);
    const log = new EventLog();
    try {
        await soak({ engine, duration_ms: minutes * 60_000, seed, log, progress });
    } finally {
        if (options.log) writeFileSync(options.log, [...log.lines()].join(''));
    }
    const { violations, figures } = check(log.events);
    console.log(JSON.stringify(figures, null, 2));
    if (violations.length > 0)
        throw new Failure(`${violations.length} violations:\n${violations.join('\n')}`);
    console.log('no violation');
});
