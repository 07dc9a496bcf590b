/** The options of the benchmarks. They are read before anything is built. */

import { optionsOf, refuse } from '../../scripts/lib/options.js';

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

/** @typedef {typeof NAMES[number]} Name */

const { only, json, strict } = optionsOf({
    only: { type: 'string', multiple: true, default: [...NAMES] },
    // npm treats the --json of `npm run bench --json` as its own option, and sets this variable.
    json: { type: 'boolean', default: process.env.npm_config_json === 'true' },
    strict: { type: 'boolean', default: false },
});

/** @param {string} name @returns {name is Name} */
const isName = (name) => NAMES.some((known) => known === name);

/** @type {Name[]} */
const chosen = [];
for (const name of only) {
    if (!isName(name)) refuse(`unknown row "${name}"; choose one of: ${NAMES.join(', ')}`);
    chosen.push(name);
}

export const options = { only: chosen, json, strict };
