/** The options of the benchmarks. They are read before anything is built. */

import { parseArgs } from 'node:util';

import { refuse } from '../../scripts/lib/options.js';

/** The rows that a run without names measures. */
export const NAMES = /** @type {const} */ ([
    'add',
    'throughput',
    'latency',
    'contention',
    'locks',
    'limits',
    'queue',
    'payload',
    'open',
    'explore',
    'emulator',
]);

/** The rows that take minutes. They are measured only if they, or `scale`, which is all of them, are named. */
export const SCALE_NAMES = /** @type {const} */ ([
    'scale-contenders',
    'scale-names',
    'scale-writers',
    'scale-counters',
    'scale-queue',
    'scale-memory',
]);

const KNOWN = [...NAMES, ...SCALE_NAMES];

/** @typedef {typeof KNOWN[number]} Name */

function readOptions() {
    try {
        return parseArgs({
            allowPositionals: true,
            options: {
                only: { type: 'string', multiple: true, default: [] },
                // npm treats the --json of `npm run bench --json` as its own option, and sets this variable.
                json: { type: 'boolean', default: process.env.npm_config_json === 'true' },
                strict: { type: 'boolean', default: false },
                short: { type: 'boolean', default: false },
                tabs: { type: 'string', multiple: true, default: [] },
            },
        });
    } catch (error) {
        refuse(/** @type {Error} */ (error).message);
    }
}

const { values, positionals } = readOptions();

/** @param {string} name @returns {name is Name} */
const isName = (name) => KNOWN.some((known) => known === name);

/** The rows that a name on the command line stands for. @param {string} name @returns {readonly Name[]} */
function rowsOf(name) {
    if (name === 'scale') return SCALE_NAMES;
    if (!isName(name)) refuse(`unknown row "${name}"; choose one of: ${[...KNOWN, 'scale'].join(', ')}`);
    return [name];
}

/** @param {string} text */
function tabsOf(text) {
    const count = Number(text);
    if (!Number.isInteger(count) || count < 1)
        refuse(`--tabs is a whole number of 1 or more, and not "${text}"`);
    return count;
}

const named = [...values.only, ...positionals];

export const options = {
    only: named.length > 0 ? named.flatMap(rowsOf) : [...NAMES],
    json: values.json,
    strict: values.strict,
    /** Whether the rows of `scale` measure fewer sizes, and less often. */
    short: values.short,
    /** The numbers of tabs with which the rows of `scale` measure, in rising order; empty for those of each row. */
    tabs: values.tabs.map(tabsOf).sort((a, b) => a - b),
};
