/** `npx tabacus explore ./scenario.js`: explores a user's scenario, or replays a report of one. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { explore, replay } from 'tabacus/emulator';
import {
    exploring,
    faultsOf,
    integerOf,
    isFile,
    Misuse,
    numbers,
    scenarioOptions,
    valuesOnce,
} from './arguments.js';
import { readReport, writeReport } from './report-files.js';

/** @typedef {import('./arguments.js').Values} Values */
/** @typedef {import('tabacus/emulator').ExploreReport} ExploreReport */

/** The exit codes by verdict; 0 for all others. @type {Record<string, number>} */
const exitCodes = { broken: 1, inconclusive: 3 };

/** @param {string[]} args @returns {Promise<number>} the exit code */
export async function exploreScenario(args) {
    const { values, positionals } = valuesOnce(args, scenarioOptions, { flags: ['quiet'] });
    if (positionals.length > 1) throw new Misuse(`explore takes one scenario, not also "${positionals[1]}"`);
    const [file] = positionals;
    if (file !== undefined && !isFile(file))
        throw new Misuse(`--replay takes a scenario's file, not "${file}"`);
    const url = file === undefined ? undefined : urlOf(file);
    return values.replay === undefined
        ? explored(/** @type {URL} */ (url), values)
        : replayed(url, String(values.replay), values);
}

/** @param {string} file */
function urlOf(file) {
    const url = /^file:/i.test(file) ? new URL(file) : pathToFileURL(resolve(file));
    if (!existsSync(fileURLToPath(url))) throw new Misuse(`there is no file ${fileURLToPath(url)}`);
    return url;
}

/** @param {URL} url @param {Values} values */
async function explored(url, values) {
    const options = { ...(await optionsOf(url)), ...asked(values) };
    const progress = values.quiet === undefined;
    const report = await explore(url, { progress, .../** @type {any} */ (options) });
    print(report, values);
    const { out, svg } = texts(values);
    const files = writeReport(report, { url, options, out, svg });
    if (!values.quiet) console.log(`\n${files.join('\n')}`);
    return exitCodes[report.verdict] ?? 0;
}

/** @param {URL | undefined} given @param {string} file @param {Values} values */
async function replayed(given, file, values) {
    const taken = exploring.find((name) => values[name] !== undefined);
    if (taken !== undefined)
        throw new Misuse(`--${taken} chooses what is explored, but --replay repeats one run`);
    const { filed, url: own } = readReport(file);
    const url = given ?? own;
    // The number of threads has no influence on a run, and a report needs no thread.
    const options = { ...(await optionsOf(url)), ...filed.options, workers: undefined };
    const report = await replay(url, /** @type {any} */ (filed), /** @type {any} */ (options));
    print(report, values);
    const { out, svg } = texts(values);
    if (out !== undefined || svg !== undefined) {
        const files = writeReport(report, { url, options, out: out ?? '.', svg });
        if (!values.quiet) console.log(`\n${files.join('\n')}`);
    }
    return exitCodes[report.verdict] ?? 0;
}

/** @param {Values} values */
const texts = ({ out, svg }) => ({
    ...(out !== undefined && { out: String(out) }),
    ...(svg !== undefined && { svg: String(svg) }),
});

/**
 * The options that a scenario's module exports.
 *
 * @param {URL} url
 * @returns {Promise<Record<string, unknown>>}
 */
async function optionsOf(url) {
    // If the module cannot be imported, explore() says why.
    const { options = {} } = await import(url.href).catch(() => ({}));
    if (typeof options !== 'object' || options === null)
        throw new Misuse(`the export \`options\` of ${fileURLToPath(url)} must be an object`);
    return options;
}

/** The options of explore() that the command line asks for. @param {Values} values */
function asked(values) {
    /** @type {Record<string, unknown>} */
    const options = {};
    for (const [name, field] of Object.entries(numbers)) {
        if (values[name] !== undefined) options[field] = integerOf(name, values[name]);
    }
    if (values.storage !== undefined) options.storage = values.storage;
    if (values.faults !== undefined) options.faults = faultsOf(values.faults);
    if (values.seed !== undefined && values.seeds !== undefined)
        throw new Misuse('--seed runs one seed: leave out --seeds');
    if (values.seed !== undefined) {
        options.seeds = [integerOf('seed', values.seed)];
        options.exhaust ??= 0;
    }
    if (values.seeds !== undefined) options.seeds = seedsOf(String(values.seeds));
    if (values['timer-window'] !== undefined) options.timerWindow = windowOf(String(values['timer-window']));
    return options;
}

/** @param {string} text @returns {number} in milliseconds */
function windowOf(text) {
    const window_ms = text.trim() === '' ? NaN : Number(text);
    if (!(window_ms >= 0))
        throw new Misuse(`--timer-window must be a number from 0, or Infinity, not ${text}`);
    return window_ms;
}

/** The longest range of seeds. */
const rangeMax = 1e7;

/**
 * The seeds of `1000` (how many), `5-20` (a range) or `1,7,30-40` (a list).
 *
 * @param {string} text
 * @returns {number | number[]}
 */
function seedsOf(text) {
    if (/^\d+$/.test(text)) return Number(text);
    return text.split(',').flatMap((part) => {
        const [, first, last = first] = /^\s*(\d+)(?:\s*(?:-|\.\.)\s*(\d+))?\s*$/.exec(part) ?? [];
        const length = Number(last) - Number(first) + 1;
        if (!(length >= 1 && length <= rangeMax))
            throw new Misuse(`--seeds must be a number, a range (5-20) or a list (1,7,30-40), not ${text}`);
        return Array.from({ length }, (_, at) => Number(first) + at);
    });
}

/** @param {ExploreReport} report @param {Values} values */
function print(report, { quiet }) {
    console.log(lineOf(report));
    if (quiet) return;
    const { story, trace } = /** @type {ExploreReport & { story?: string }} */ (report);
    for (const text of [story, trace]) if (text) console.log(`\n${text.trimEnd()}`);
}

/** @param {ExploreReport & { bound?: string, waitsFor?: string }} report */
function lineOf({ verdict, failure, waitsFor, bound, seed, seeds, steps, faults }) {
    const shown = (/** @type {number} */ value) => value.toLocaleString('en');
    const counted = Object.entries(faults).map(([fault, times]) => `${fault}: ${shown(times)}`);
    const far = [`seeds: ${shown(seeds)}`, `steps: ${shown(steps)}`, ...counted].join(', ');
    const what = waitsFor || failure.replace(/^inconclusive: /, '') || bound;
    const of = seed === undefined ? '' : ` by seed ${seed}`;
    return `${verdict}${of}${what ? `: ${what}` : ''} (${far})`;
}
