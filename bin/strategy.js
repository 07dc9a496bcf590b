/** `npx tabacus explore <strategy>`: explores a strategy of the laboratory, or replays a seed of one. */

import { writeFileSync } from 'node:fs';
import { explore, replay, strategies } from 'tabacus/lab';
import { faultsOf, integerOf, Misuse, valuesOnce } from './arguments.js';

/** @typedef {import('./arguments.js').Values} Values */

/** The options that bound a search. A replay accepts none of them. */
const bounds = ['preemptions', 'seeds', 'work'];

const numbers = ['tabs', 'adds', 'fault-budget', ...bounds];

/** Deprecated options, and what they are called now. @type {Record<string, string>} */
const aliases = { switches: 'preemptions' };

/** The options that have a value. */
export const strategyOptions = ['model', 'faults', 'seed', 'svg', ...numbers, ...Object.keys(aliases)];

/** @param {string} name an option of the command line */
const fieldOf = (name) => (name === 'fault-budget' ? 'faultBudget' : name);

/** @param {Values} values @param {string | undefined} strategy */
function requestOf(values, strategy) {
    /** @type {Record<string, unknown>} */
    const request = strategy === undefined ? {} : { strategy };
    if (values.model !== undefined) request.model = values.model;
    if (values.faults !== undefined) request.faults = faultsOf(values.faults);
    for (const name of numbers) {
        if (values[name] !== undefined) request[fieldOf(name)] = integerOf(name, values[name]);
    }
    return request;
}

/** @param {string[]} args @returns {Promise<number>} the exit code */
export async function exploreStrategy(args) {
    const { values, positionals } = valuesOnce(args, ['model', 'faults', 'seed', 'svg', ...numbers], {
        aliases,
    });
    const { seed, svg, ...rest } = values;
    if (positionals.length > 1 || (seed === undefined && positionals.length === 0)) {
        throw new Misuse(
            `explore takes one strategy, or the file of a scenario (./scenario.js); the strategies are: ${strategies.join(', ')}`,
        );
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
