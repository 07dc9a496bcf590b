/**
 * js/tab/generated/guarantees.js: what the strategies of the catalogue promise, as the program says. A page shows it
 * before it has loaded that piece of it.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { enums } from '../../bridge/types.js';
import { Failure } from './failure.js';
import { buildFolder, repository } from './paths.js';

const FILE = join(repository, 'js/tab/generated/guarantees.js');
const PIECES = join(buildFolder, 'wasm-single/pieces');

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
    const { countGuarantee } = await import('../../js/core/generated/counters.js');
    const { Program } = await import('../../js/core/program.js');
    const { catalogueCounter, coordinationNew } = await import('../../js/core/generated/coordination.js');
    const compiled = (/** @type {string} */ piece) =>
        new WebAssembly.Module(readFileSync(join(PIECES, `${piece}.wasm`)));
    const program = await Program.start(compiled('counters'));
    const bridge = new Bridge(program.glue, /** @type {any} */ (host), { notice() {}, fail() {} });
    for (const piece of /** @type {const} */ (['locks', 'catalogue']))
        bridge.contain(await program.add(piece, compiled(piece)));
    bridge.start('guarantees');
    bridge.coordination = coordinationNew(bridge, bridge.core);
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
    if (!existsSync(PIECES)) {
        if (existsSync(FILE)) return;
        throw new Failure(`${FILE} is made from ${PIECES}: run node scripts/build.js wasm-single`);
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
        '/* Written by scripts/lib/guarantees.js from what the program says. */\n\n' +
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
