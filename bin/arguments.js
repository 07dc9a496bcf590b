/** The arguments of the command line. */

import { parseArgs } from 'node:util';

/** The command line is wrong: exit code 2. */
export class Misuse extends Error {}

/** @typedef {Record<string, string | boolean | undefined>} Values */

/**
 * @param {string[]} args
 * @param {import('node:util').ParseArgsConfig['options']} options
 */
export function parsed(args, options) {
    try {
        return parseArgs({ args, allowPositionals: true, options });
    } catch (error) {
        throw new Misuse(/** @type {Error} */ (error).message);
    }
}

/**
 * Each option once; but `--faults a --faults b` is `--faults a,b`.
 *
 * @param {string[]} args
 * @param {readonly string[]} names of options with a value
 * @param {{ aliases?: Record<string, string>, flags?: readonly string[] }} [others] `aliases`: deprecated options, and
 *   what they are called; `flags`: options without a value
 */
export function valuesOnce(args, names, { aliases = {}, flags = [] } = {}) {
    const { values, positionals } = parsed(args, {
        ...optionsOf([...names, ...Object.keys(aliases)], 'string'),
        ...optionsOf(flags, 'boolean'),
    });
    /** @type {Values} */
    const once = {};
    for (const [option, given] of Object.entries(
        /** @type {Record<string, (string | boolean)[]>} */ (values),
    )) {
        const name = aliases[option] ?? option;
        const twice = given.length > 1 || once[name] !== undefined;
        if (twice && name !== 'faults') throw new Misuse(`--${name} is given twice`);
        once[name] = flags.includes(name) ? true : given.join(',');
    }
    return { values: once, positionals };
}

/** @param {readonly string[]} names @param {'string' | 'boolean'} type */
const optionsOf = (names, type) => Object.fromEntries(names.map((name) => [name, { type, multiple: true }]));

/** @param {string} name an option of the command line @param {unknown} text its value */
export function integerOf(name, text) {
    if (!/^\d+$/.test(String(text))) throw new Misuse(`--${name} must be an integer from 0, not ${text}`);
    return Number(text);
}

/** @param {unknown} text the value of --faults */
export const faultsOf = (text) =>
    String(text)
        .split(/[,\s]+/)
        .filter((fault) => fault && fault !== 'none');

/** The options of explore() that are integers, by their options of the command line. */
export const numbers = {
    tabs: 'tabs',
    'fault-budget': 'faultBudget',
    workers: 'workers',
    exhaust: 'exhaust',
    steps: 'steps',
};

/** The options that choose what is explored. A replay takes them from its report. */
export const exploring = ['seed', 'seeds', 'faults', 'storage', 'timer-window', ...Object.keys(numbers)];

/** The options that have a value. */
export const scenarioOptions = [...exploring, 'replay', 'out', 'svg'];

/** Whether an argument is a file, and not a strategy. @param {string} argument */
export const isFile = (argument) => /^(?:[./\\]|file:|[a-z]:[\\/])/i.test(argument);
