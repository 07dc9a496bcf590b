/**
 * js/tab/generated/guarantees.js: what the strategies of the catalogue promise, as their program says. A page shows it
 * before it has loaded that program.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { enums } from '../../bridge/types.js';
import { Failure } from './failure.js';
import { buildFolder, repository } from './paths.js';

const FILE = join(repository, 'js/tab/generated/guarantees.js');
const PROGRAM = join(buildFolder, 'wasm-single/coordination.js');

/** @typedef {import('../../js/core/generated/counters.js').Guarantee} Guarantee */

/** A platform that has every part and never answers: a counter is only asked for what it promises. */
const host = new Proxy(
    {},
    {
        get: (_, part) =>
            part === 'connect'
                ? () => {}
                : new Proxy({}, { get: (__, name) => name === 'available' || (() => 0) }),
    },
);

/** @returns {Promise<(strategy: string, durability: 'relaxed' | 'strict') => Guarantee>} */
async function program() {
    // What is imported here is generated first.
    const { Bridge } = await import('../../js/core/bridge.js');
    const { catalogueCounter } = await import('../../js/core/generated/coordination.js');
    const { countGuarantee } = await import('../../js/core/generated/counters.js');
    const { default: start } = await import(pathToFileURL(PROGRAM).href);
    const bridge = new Bridge(await start({}), /** @type {any} */ (host), { notice() {}, fail() {} });
    bridge.start('guarantees');
    return (strategy, durability) => {
        const options = { strategy: /** @type {any} */ (strategy), durability, times: {} };
        return countGuarantee(bridge, catalogueCounter(bridge, 'counter', options));
    };
}

/** The fields of `one` that are others in `other`. @param {object} one @param {object} other */
const differences = (one, other) =>
    Object.fromEntries(
        Object.entries(one).filter(
            ([name, value]) =>
                JSON.stringify(value) !==
                JSON.stringify(/** @type {Record<string, unknown>} */ (other)[name]),
        ),
    );

/** Returns, for each field, the value that most of them have. @param {Guarantee[]} all */
function mostCommon(all) {
    const fields = Object.keys(all[0] ?? {}).map((name) => {
        const values = all.map((one) =>
            JSON.stringify(/** @type {Record<string, unknown>} */ ({ ...one })[name]),
        );
        const count = (/** @type {string} */ value) => values.filter((one) => one === value).length;
        return [name, JSON.parse([...values].sort((a, b) => count(b) - count(a))[0] ?? '')];
    });
    return /** @type {Guarantee} */ (Object.fromEntries(fields));
}

/** Writes the module, unless it would not change. Requires the programs, or the module of an earlier build. */
export async function generateGuarantees() {
    if (!existsSync(PROGRAM)) {
        if (existsSync(FILE)) return;
        throw new Failure(`${FILE} is made from ${PROGRAM}: run node scripts/build.js wasm-single`);
    }
    const guarantee = await program();
    const strategies = Object.values(enums.Strategy?.values ?? {});
    const common = mostCommon(strategies.map((strategy) => guarantee(strategy, 'relaxed')));
    const entries = strategies.map((strategy) => {
        const relaxed = guarantee(strategy, 'relaxed');
        const strict = differences(guarantee(strategy, 'strict'), relaxed);
        const own = { relaxed: differences(relaxed, { ...common, strategy }), strict };
        return `    ${strategy}: ${JSON.stringify(own)},\n`;
    });
    const text =
        '/* Written by scripts/lib/guarantees.js from what coordination.wasm says. */\n\n' +
        "/** @typedef {import('../../core/generated/counters.js').Guarantee} Guarantee */\n\n" +
        '/** What most strategies promise. */\n' +
        `export const common = ${JSON.stringify(common)};\n\n` +
        '/**\n * What each promises besides or instead, and what instead of that if it is asked to be strict.\n *\n' +
        ' * @type {Record<string, { relaxed: Partial<Guarantee>, strict: Partial<Guarantee> }>}\n */\n' +
        `export const guarantees = {\n${entries.join('')}};\n`;
    if (existsSync(FILE) && readFileSync(FILE, 'utf8') === text) return;
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, text);
}
