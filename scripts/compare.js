/**
 * npm run compare -- [--engine chromium|firefox|webkit]… [--tabs N] [--seconds S] [--strategies a,b]
 *                    [--json | --markdown] [--svg file]
 *
 * N real tabs, each in a process of its own, increment one counter of each strategy as fast as they can. Prints how
 * many increments are lost, how many are made in a second, how soon another tab sees one, and whether all tabs read
 * the same value in the end. docs/reality.md explains the figures.
 */

import { writeFileSync } from 'node:fs';
import { STRATEGIES } from '../js/common/strategies.js';
import { browsers } from './lib/browsers.js';
import { build, WASM_PRESETS } from './lib/cmake.js';
import { svg } from './lib/compare-svg.js';
import { markdown, table } from './lib/compare-table.js';
import { Failure, main } from './lib/failure.js';
import { nodeModules } from './lib/node-modules.js';
import { optionsOf } from './lib/options.js';
import { pack } from './lib/pack.js';
import { toolchain } from './lib/toolchain.js';

const TABS_MAX = 16;
const SECONDS_MAX = 600;

const options = optionsOf({
    engine: { type: 'string', multiple: true, default: ['chromium'] },
    tabs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    strategies: { type: 'string', default: STRATEGIES.join(',') },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    svg: { type: 'string' },
});

/** @param {string} name @param {string} text @param {number} most */
function positive(name, text, most) {
    const value = Number(text);
    if (value > 0 && value <= most) return value;
    throw new Failure(`--${name} must be a number above 0 and at most ${most}, but is "${text}"`);
}

/** @param {string} what @param {string[]} names @param {readonly string[]} known */
function known(what, names, known) {
    const unknown = names.find((name) => !known.includes(name));
    if (unknown === undefined) return names;
    throw new Failure(`unknown ${what} "${unknown}"; choose one of: ${known.join(', ')}`);
}

/** Checks the arguments before anything is built. */
function checked() {
    const tabs = positive('tabs', options.tabs, TABS_MAX);
    if (!Number.isInteger(tabs)) throw new Failure(`--tabs must be an integer, but is ${tabs}`);
    return {
        engines: known('engine', options.engine, ['chromium', 'firefox', 'webkit']),
        tabs,
        duration_ms: 1000 * positive('seconds', options.seconds, SECONDS_MAX),
        strategies: known('strategy', options.strategies.split(','), STRATEGIES),
    };
}

/** @param {ReturnType<typeof checked>} wanted */
async function run({ engines, ...wanted }) {
    const { ENGINES } = await import('../tests/browser/harness/engines.js');
    const { measure } = await import('./lib/compare-measure.js');
    const runs = [];
    for (const name of engines) {
        const engine = ENGINES[/** @type {keyof typeof ENGINES} */ (name)];
        if (engine.missing) throw new Failure(engine.missing);
        /** @param {string} strategy */
        const report = (strategy) => void process.stderr.write(`· ${engine.name}, ${strategy} …\n`);
        runs.push({ engine: engine.name, rows: await measure(engine, wanted, report) });
    }
    return { tabs: wanted.tabs, seconds: wanted.duration_ms / 1000, runs };
}

/** @param {Awaited<ReturnType<typeof run>>} result */
function print({ tabs, seconds, runs }) {
    const lay = options.markdown ? markdown : table;
    for (const { engine, rows } of runs) {
        console.log(`${engine}, ${tabs} tabs, ${seconds} s each\n\n${lay(rows)}\n`);
    }
}

await main(async () => {
    const wanted = checked();
    await nodeModules();
    await toolchain();
    await browsers();
    for (const preset of WASM_PRESETS) await build(preset);
    await pack();
    const result = await run(wanted);
    if (options.json) console.log(JSON.stringify(result, null, 2));
    else print(result);
    if (options.svg) writeFileSync(options.svg, svg(result.runs));
});
