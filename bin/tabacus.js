#!/usr/bin/env node
/** The command line: `npx tabacus --help`. */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { explore, faults, matrix, models, replay, strategies } from 'tabacus/lab';
import { features, preloadLinks } from './preload.js';

const HELP = `tabacus: counters over browser tabs, under every schedule

  npx tabacus explore <strategy> [options]   explores one strategy until it is proved or broken
  npx tabacus explore --seed <seed>          replays a run that broke one; other options must be the seed's
  npx tabacus matrix [--json]                every strategy, storage model and fault, and how far what holds was
                                             explored (tabs × increments: bound); a JSON object a line
  npx tabacus preload [feature…] [--base <address>]
                                             the elements of a page's head that load counters, and what is named,
                                             ahead: ${features.join(', ')}. --base: where the files are (/tabacus)
  npx tabacus --help

Strategies: ${strategies.join(', ')}

Options of explore
  --model <name>         ${models.join(', ')} (cached)
  --tabs <n>             1 to 64 (2)
  --adds <n>             increments of each tab, up to 1000 (2)
  --faults <a,b>         ${faults.join(', ')} (none)
  --fault-budget <n>     how many of them in one run, up to 64 (1)
  --preemptions <n>      beyond what can be exhausted: every schedule with so few preemptions (3)
  --seeds <n>            and so many seeded schedules (10000)
  --work <n>             steps after which a search is given up (5000000)
  --svg <file>           draws the run that breaks it as a sequence diagram

Exit codes: 0 nothing broke, 1 broken, 2 what was asked for cannot be.
`;

/** The command line is wrong: exit code 2. */
class Misuse extends Error {}

/** @typedef {Record<string, string | boolean | undefined>} Values */

/** How far a search goes: a run that is replayed has none of them. */
const bounds = ['preemptions', 'seeds', 'work'];

const numbers = ['tabs', 'adds', 'fault-budget', ...bounds];

/** Deprecated options, and what they are called now. @type {Record<string, string>} */
const aliases = { switches: 'preemptions' };

/** @param {string} name an option of the command line */
const fieldOf = (name) => (name === 'fault-budget' ? 'faultBudget' : name);

/**
 * @param {string[]} args
 * @param {import('node:util').ParseArgsConfig['options']} options
 */
function parsed(args, options) {
    try {
        return parseArgs({ args, allowPositionals: true, options });
    } catch (error) {
        throw new Misuse(/** @type {Error} */ (error).message);
    }
}

/** @param {Values} values @param {string | undefined} strategy */
function requestOf(values, strategy) {
    /** @type {Record<string, unknown>} */
    const request = strategy === undefined ? {} : { strategy };
    if (values.model !== undefined) request.model = values.model;
    if (values.faults !== undefined)
        request.faults = String(values.faults)
            .split(/[,\s]+/)
            .filter((fault) => fault && fault !== 'none');
    for (const name of numbers) {
        if (values[name] === undefined) continue;
        if (!/^\d+$/.test(String(values[name]))) {
            throw new Misuse(`--${name} must be an integer from 0, not ${values[name]}`);
        }
        request[fieldOf(name)] = Number(values[name]);
    }
    return request;
}

/**
 * Each option once; but `--faults a --faults b` is `--faults a,b`.
 *
 * @param {string[]} args
 */
function exploreValues(args) {
    const named = ['model', 'faults', 'seed', 'svg', ...numbers, ...Object.keys(aliases)];
    const options = Object.fromEntries(
        named.map((name) => [name, { type: /** @type {const} */ ('string'), multiple: true }]),
    );
    const { values, positionals } = parsed(args, options);
    /** @type {Values} */
    const once = {};
    for (const [option, given] of Object.entries(/** @type {Record<string, string[]>} */ (values))) {
        const name = aliases[option] ?? option;
        const twice = given.length > 1 || once[name] !== undefined;
        if (twice && name !== 'faults') throw new Misuse(`--${name} is given twice`);
        once[name] = given.join(',');
    }
    return { values: once, positionals };
}

/** @param {string[]} args @returns {Promise<number>} */
async function runExplore(args) {
    const { values, positionals } = exploreValues(args);
    const { seed, svg, ...rest } = values;
    if (positionals.length > 1 || (seed === undefined && positionals.length === 0)) {
        throw new Misuse(`explore takes one strategy; choose one of: ${strategies.join(', ')}`);
    }
    const bound = seed !== undefined && bounds.find((name) => rest[name] !== undefined);
    if (bound) throw new Misuse(`--${bound} bounds a search, but --seed replays one run`);
    const request = requestOf(rest, positionals[0]);
    const report =
        seed === undefined
            ? await explore(/** @type {any} */ (request))
            : await replayed(String(seed), request);
    console.log(lineOf(report));
    if (report.trace && report.verdict === 'broken') console.log(`\n${report.trace}`);
    if (svg !== undefined) draw(String(svg), report);
    return report.verdict === 'broken' ? 1 : 0;
}

/**
 * @param {string} seed
 * @param {Record<string, unknown>} asked the options given beside the seed: they must be those of its run
 */
async function replayed(seed, asked) {
    const report = await replay(seed);
    /** @type {Record<string, unknown>} */
    const own = report.request;
    const asText = (/** @type {unknown} */ value) =>
        Array.isArray(value) ? [...value].sort().join(', ') || 'none' : String(value);
    for (const name of ['strategy', 'model', 'faults', ...numbers]) {
        const [given, is] = [asked[fieldOf(name)], own[fieldOf(name)]];
        if (given === undefined || asText(given) === asText(is)) continue;
        throw new Misuse(`the seed's run has ${name}: ${asText(is)}, not ${asText(given)}`);
    }
    return report;
}

/** @param {string} file @param {import('tabacus/lab').ExploreReport} report */
function draw(file, { svg }) {
    if (!svg) return console.error('Nothing broke: there is nothing to draw.');
    try {
        writeFileSync(file, svg);
    } catch (error) {
        throw new Misuse(`--svg: ${/** @type {Error} */ (error).message}`);
    }
}

/** @param {import('tabacus/lab').ExploreReport} report */
function lineOf({ request, verdict, bound, schedules, steps, seed, failure }) {
    if (verdict === 'broken') return `broken ${seed}: ${failure}`;
    const { strategy, model, tabs, adds, faults: chosen, faultBudget } = request;
    const faulty = chosen.length > 0 ? `at most ${faultBudget} of ${chosen.join(', ')}` : 'no faults';
    const far = `${schedules.toLocaleString('en')} schedules, ${steps.toLocaleString('en')} steps`;
    const what = `${strategy}, ${model}, tabs: ${tabs}, adds: ${adds}, ${faulty}`;
    if (verdict === 'proved') return `proved: ${bound || 'this run does not break'} (${far}; ${what})`;
    return `proved up to the bound: ${bound} (${far}; ${what})`;
}

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

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function run([command, ...args]) {
    if ([command, ...args].some((arg) => arg === '--help' || arg === '-h')) {
        console.log(HELP);
        return 0;
    }
    switch (command) {
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
    const { message, code } = /** @type {Error & { code?: string }} */ (error);
    if (!(error instanceof Misuse) && code !== 'invalid-argument') throw error;
    console.error(`tabacus: ${message}\n\n${HELP}`);
    process.exitCode = 2;
}
