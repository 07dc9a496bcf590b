#!/usr/bin/env node
/** The command line: `npx tabacus --help`. */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { faults, matrix, models, strategies } from 'tabacus/lab';
import { isFile, Misuse, parsed, scenarioOptions } from './arguments.js';
import { features, preloadLinks } from './preload.js';
import { exploreStrategy, strategyOptions } from './strategy.js';

/** @typedef {import('./arguments.js').Values} Values */

const HELP = `tabacus: counters over browser tabs, under every schedule

  npx tabacus explore <strategy> [options]   explores one strategy until it is proved or broken
  npx tabacus explore --seed <seed>          replays a run that broke one; other options must be the seed's
  npx tabacus explore ./scenario.js [options]
                                             explores your scenario (an argument that begins with . or /), and writes
                                             its report, trace and diagram beside it
  npx tabacus explore --replay <report.json> repeats the failure of a report
  npx tabacus matrix [--json]                every strategy, storage model and fault, and how far what holds was
                                             explored (tabs × increments: bound); a JSON object a line
  npx tabacus preload [feature…] [--base <address>]
                                             the elements of a page's head that load counters, and what is named,
                                             ahead: ${features.join(', ')}. --base: where the files are (/tabacus)
  npx tabacus --help | --version

Strategies: ${strategies.join(', ')}

Options of explore <strategy>
  --model <name>         ${models.join(', ')} (cached)
  --tabs <n>             1 to 64 (2)
  --adds <n>             increments of each tab, up to 1000 (2)
  --faults <a,b>         ${faults.join(', ')} (none)
  --fault-budget <n>     how many of them in one run, up to 64 (1)
  --preemptions <n>      beyond what can be exhausted: every schedule with so few preemptions (3)
  --seeds <n>            and so many seeded schedules (10000)
  --work <n>             steps after which a search is given up (5000000)
  --svg <file>           draws the run that breaks it as a sequence diagram

Options of explore ./scenario.js, a module that exports \`scenario\` (or a default) and, optionally, \`setup\`, \`invariant\`
and \`options\` (those of explore() in tabacus/emulator)
  --tabs <n>             1 to 64 (2)
  --seeds <n | a-b | a,b,c>
                         how many seeds, or which (1000)
  --seed <n>             one seed
  --faults <a,b>         as above (none)
  --fault-budget <n>     how many of them in one run, up to 64 (1)
  --storage <name>       cached, interleaved, mutexed (cached)
  --timer-window <ms>    how far a timer may overtake what is under way; Infinity: any timer may
  --exhaust <n>          the most runs of the attempt to prove the scenario
  --steps <n>            steps after which a run counts as endless (20000)
  --workers <n>          threads that share the seeds, up to 64 (none)
  --out <folder>         where <scenario>.report.json, .trace.txt and .svg are written (beside the scenario)
  --svg <file>           another file for the diagram
  --quiet                prints the verdict, and nothing else

Exit codes: 0 nothing broke, 1 broken, 2 what was asked for cannot be, 3 inconclusive.
`;

/** @param {import('tabacus/lab').MatrixCell} cell */
function findingOf({ verdict, parts, contradicts, declared }) {
    const note = contradicts ? `, but is declared "${declared}"` : '';
    if (verdict !== 'unbroken within the bound') return verdict + note;
    const far = parts
        .filter(({ sought }) => sought === 'any')
        .map(({ tabs, adds, bound }) => `${tabs} × ${adds}: ${bound}`);
    return `holds (${far.join(' | ')})${note}`;
}

/** @param {string[]} args @returns {Promise<number>} */
async function runMatrix(args) {
    const { values, positionals } = parsed(args, { json: { type: 'boolean' } });
    const { json } = /** @type {Values} */ (values);
    if (positionals.length > 0) throw new Misuse(`matrix takes no argument "${positionals[0]}"`);
    let wrong = 0;
    for await (const cell of matrix()) {
        const { strategy, model, fault, contradicts } = cell;
        if (contradicts) ++wrong;
        const columns = [strategy.padEnd(14), model.padEnd(12), fault.padEnd(17), findingOf(cell)];
        console.log(json ? JSON.stringify(cell) : columns.join(' '));
    }
    return wrong > 0 ? 1 : 0;
}

/** @param {string[]} args @returns {number} */
function runPreload(args) {
    const { values, positionals } = parsed(args, { base: { type: 'string' } });
    const unknown = positionals.find((feature) => !features.includes(feature));
    if (unknown !== undefined)
        throw new Misuse(`unknown feature "${unknown}"; choose from: ${features.join(', ')}`);
    const { base = '/tabacus' } = /** @type {{ base?: string }} */ (values);
    for (const link of preloadLinks(positionals, base)) console.log(link);
    return 0;
}

/**
 * Explores the scenario of a file, or a strategy.
 *
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function runExplore(args) {
    const names = [...strategyOptions, ...scenarioOptions];
    const { values, positionals } = parseArgs({
        ...{ args, strict: false, allowPositionals: true },
        options: Object.fromEntries(names.map((name) => [name, { type: /** @type {const} */ ('string') }])),
    });
    if (values.replay === undefined && !positionals.some(isFile)) return exploreStrategy(args);
    const { exploreScenario } = await import('./scenario.js');
    return exploreScenario(args);
}

function version() {
    const { version: own } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    return own;
}

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function run([command, ...args]) {
    if ([command, ...args].some((arg) => arg === '--help' || arg === '-h')) {
        console.log(HELP);
        return 0;
    }
    switch (command) {
        case '--version':
        case '-v':
            console.log(version());
            return 0;
        case 'explore':
            return runExplore(args);
        case 'matrix':
            return runMatrix(args);
        case 'preload':
            return runPreload(args);
        default:
            throw new Misuse(
                `${command === undefined ? 'no command' : `unknown command "${command}"`}; choose one of: explore, matrix, preload`,
            );
    }
}

// A reader that takes only the beginning (head) closes the pipe early: that is no error.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? process.exitCode : 2));

try {
    process.exitCode = await run(process.argv.slice(2));
} catch (error) {
    const { message, code, argument } = /** @type {Error & { code?: string, argument?: string }} */ (error);
    if (!(error instanceof Misuse) && code !== 'invalid-argument' && code !== 'unavailable') throw error;
    const help = code === 'unavailable' || argument === 'scenario' ? '' : `\n\n${HELP}`;
    const cause = argument === 'scenario' && Object(Object(error).cause).stack;
    console.error(`tabacus: ${message}${cause ? `\n\n${cause}` : ''}${help}`);
    process.exitCode = 2;
}
