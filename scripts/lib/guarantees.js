/**
 * Writes js/tab/generated/guarantees.js: the guarantees that the program declares for the strategies. A page shows
 * them without loading the piece of the program that contains the strategies.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { enums } from '../../bridge/types.js';
import { Failure } from './failure.js';
import { buildFolder, repository } from './paths.js';

const FILE = join(repository, 'js/tab/generated/guarantees.js');
const PIECES = join(buildFolder, 'wasm-single/pieces');

/** @typedef {import('../../js/core/generated/coordination.js').Guarantee} Guarantee */

/**
 * The stores of a tab's counters, the default first.
 *
 * @typedef {import('../../js/tab/tab.js').Capabilities['store']} Store
 */

/**
 * Makes a host that only answers whether its database is open. That suffices, because the only call of a counter is the
 * one that returns its guarantee.
 *
 * @param {Store} store
 */
function hostWith(store) {
    /** @type {import('../../js/core/generated/host-events.js').HostEvents} */
    let program;
    const available = { database: store === 'indexeddb', storage: store !== 'memory' };
    const part = (/** @type {string} */ name) =>
        new Proxy(
            {},
            {
                get: (_, method) =>
                    method === 'available'
                        ? (/** @type {Record<string, boolean>} */ (available)[name] ?? true)
                        : (/** @type {number} */ operation) =>
                              name === 'database' && method === 'open' ? program.settled(operation) : 0,
            },
        );
    return new Proxy(
        {},
        {
            get: (_, name) =>
                name === 'connect'
                    ? (/** @type {typeof program} */ events) => (program = events)
                    : part(String(name)),
        },
    );
}

/** @typedef {(strategy: string, durability: 'relaxed' | 'strict') => Guarantee} Ask */

/** @param {Store} store @returns {Promise<Ask>} */
async function program(store) {
    // These modules import generated files, so they are imported only after the files are written.
    const { Bridge } = await import('../../js/core/bridge.js');
    const { tabCounter, tabOpen } = await import('../../js/core/generated/counters.js');
    const { Program } = await import('../../js/core/program.js');
    const { catalogueCounter, coordinationNew, countGuarantee } =
        await import('../../js/core/generated/coordination.js');
    const compiled = (/** @type {string} */ piece) =>
        new WebAssembly.Module(readFileSync(join(PIECES, `${piece}.wasm`)));
    const program = await Program.start(compiled('counters'));
    const host = /** @type {any} */ (hostWith(store));
    const bridge = new Bridge(program.glue, host, { notice() {}, fail() {} });
    for (const piece of /** @type {const} */ (['locks', 'catalogue']))
        bridge.contain(await program.add(piece, compiled(piece)));
    bridge.start('guarantees');
    await tabOpen(bridge);
    bridge.coordination = coordinationNew(bridge, bridge.core);
    return (strategy, durability) => {
        const options = { strategy: /** @type {any} */ (strategy), durability, times: {} };
        const counter =
            strategy === 'replicated'
                ? tabCounter(bridge, 'counter', durability)
                : catalogueCounter(bridge, 'counter', options);
        return countGuarantee(bridge, counter);
    };
}

/** The fields of `one` that differ from those of `other`. @param {object} one @param {object} other */
const differences = (one, other) =>
    Object.fromEntries(
        Object.entries(one).filter(
            ([name, value]) =>
                JSON.stringify(value) !==
                JSON.stringify(/** @type {Record<string, unknown>} */ (other)[name]),
        ),
    );

/** Returns a guarantee in which each field has the value that most of the given ones have. @param {Guarantee[]} all */
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

/**
 * Writes the module, unless it would not change. Requires the programs, or the module of an earlier build.
 *
 * @throws {Failure} if there is neither
 */
export async function generateGuarantees() {
    if (!existsSync(PIECES)) {
        if (existsSync(FILE)) return;
        throw new Failure(`${FILE} is made from ${PIECES}: run node scripts/build.js wasm-single`);
    }
    const ask = await program('indexeddb');
    /** @type {[name: string, strategy: string, ask: Ask][]} */
    const asked = Object.values(enums.Strategy?.values ?? {}).map((strategy) => [strategy, strategy, ask]);
    const common = mostCommon(asked.map(([, strategy]) => ask(strategy, 'relaxed')));
    for (const store of /** @type {const} */ (['indexeddb', 'localstorage', 'memory']))
        asked.push([store, 'replicated', await program(store)]);
    const entries = asked.map(([name, strategy, guarantee]) => {
        const relaxed = guarantee(strategy, 'relaxed');
        const strict = differences(guarantee(strategy, 'strict'), relaxed);
        const own = {
            ...differences(relaxed, { ...common, strategy }),
            ...(Object.keys(strict).length > 0 && { strict }),
        };
        return `    ${name}: ${JSON.stringify(own)},\n`;
    });
    const text =
        '/* Written by scripts/lib/guarantees.js from what the program declares. */\n\n' +
        "/** @typedef {import('../../core/generated/coordination.js').Guarantee} Guarantee */\n\n" +
        '/**\n * The guarantee in which each field has the value of most strategies. `losses` and `excesses` are bits: bit n\n' +
        ' * stands for the FaultClass of the number n (js/core/generated/enums/fault-class.js).\n */\n' +
        `export const common = ${JSON.stringify({ ...common, strategy: undefined })};\n\n` +
        '/**\n * For each strategy, the fields of its guarantee that differ from `common`. With the durability `strict`, the fields\n' +
        ' * in `strict` differ further. The default strategy has an entry for each store that a tab may have.\n *\n' +
        ` * @type {Record<${asked.map(([name]) => `'${name}'`).join(' | ')},\n *   Partial<Guarantee> & { strict?: Partial<Guarantee> }>}\n */\n` +
        `export const guarantees = {\n${entries.join('')}};\n`;
    if (existsSync(FILE) && readFileSync(FILE, 'utf8') === text) return;
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, text);
}
