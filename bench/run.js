/**
 * node bench/run.js [row]… [--only row]… [--json] [--strict] [--short] [--tabs count]…
 *
 * Measures tabacus and its peers in one run of one Chromium, and prints a table. `--json` prints every sample instead;
 * with `--strict`, a missed target is a failure. The rows of `scale` take minutes, and are measured only if they are
 * named; `--short` measures fewer sizes of them, and `--tabs` that many contending or writing tabs. `scale` itself,
 * which is all of them, also draws docs/scale.svg.
 * `npm run bench` first builds what this needs.
 */

import { writeFileSync } from 'node:fs';

import { inChromium, machine } from './lib/context.js';
import { options, SCALE_NAMES } from './lib/options.js';
import { judge } from './lib/rows.js';
import { scaleSvg } from './lib/scale-svg.js';
import { table } from './lib/table.js';
import { add } from './rows/add.js';
import { contention } from './rows/contention.js';
import { emulator } from './rows/emulator.js';
import { explore } from './rows/explore.js';
import { latency } from './rows/latency.js';
import { limits } from './rows/limits.js';
import { locks } from './rows/locks.js';
import { open } from './rows/open.js';
import { payload } from './rows/payload.js';
import { queue } from './rows/queue.js';
import { scaleContenders } from './rows/scale-contenders.js';
import { scaleCounters } from './rows/scale-counters.js';
import { scaleMemory } from './rows/scale-memory.js';
import { scaleNames } from './rows/scale-names.js';
import { scaleQueue } from './rows/scale-queue.js';
import { scaleWriters } from './rows/scale-writers.js';
import { throughput } from './rows/throughput.js';

/** @type {Record<import('./lib/options.js').Name, (context: import('./lib/context.js').Context) => Promise<import('./lib/rows.js').Row[]>>} */
const ROWS = {
    add,
    throughput,
    latency,
    contention,
    locks,
    limits,
    queue,
    payload,
    open,
    explore,
    emulator,
    'scale-contenders': scaleContenders,
    'scale-names': scaleNames,
    'scale-writers': scaleWriters,
    'scale-counters': scaleCounters,
    'scale-queue': scaleQueue,
    'scale-memory': scaleMemory,
};

/**
 * Prints a line of progress. It goes to standard error, since the standard output is for the result.
 *
 * @param {string} line
 */
const report = (line) => void process.stderr.write(`${line}\n`);

/** @param {import('./lib/context.js').Context} context */
async function measure(context) {
    const judged = [];
    for (const name of options.only) {
        report(`· ${name} …`);
        judged.push(...(await ROWS[name](context)).map(judge));
    }
    return { machine: await machine(context.browser), rows: judged };
}

const result = await inChromium(measure);
const { browser, node, cpu, cores } = result.machine;
console.log(
    options.json
        ? JSON.stringify(result, null, 2)
        : `${table(result.rows)}\n\n${browser}, Node ${node}, ${cores} × ${cpu}`,
);
if (SCALE_NAMES.every((name) => options.only.includes(name)))
    writeFileSync(new URL('../docs/scale.svg', import.meta.url), scaleSvg(result.rows));
const missed = result.rows.filter(({ met }) => !met);
if (missed.length > 0) report(`\nmissed targets: ${missed.map(({ name }) => name).join('; ')}`);
if (options.strict && missed.length > 0) process.exitCode = 1;
