/** Computes the matrix by the native explorer, and compares it with real browsers and the declared guarantees. */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { STRATEGIES } from '../../js/common/strategies.js';
import { build } from './cmake.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { run } from './run.js';
import { toolchain } from './toolchain.js';

/**
 * @typedef {object} MatrixPart
 * @property {'proved' | 'broken' | 'unbroken within the bound'} verdict
 * @property {number} schedules
 * @property {number} steps
 * @property {number} seconds
 * @property {string} bound how far it was explored; empty if a broken schedule was found first
 * @property {string} failure
 * @property {string} seed
 * @property {number} tabs
 * @property {number} adds in each tab
 * @property {number} faults at most, in one run
 * @property {'any' | 'a value too large'} sought
 *
 * @typedef {object} MatrixCell
 * @property {string} strategy
 * @property {'mutexed' | 'interleaved' | 'cached'} model
 * @property {string} fault
 * @property {boolean} explored
 * @property {string} declared
 * @property {'proved' | 'broken' | 'unbroken within the bound' | 'not explored'} verdict
 * @property {boolean} contradicts
 * @property {boolean} unfound
 * @property {MatrixPart[]} parts
 */

/** The faults, in the order of the columns of wasm/src/lab/report/matrix.cpp. */
const FAULTS = [
    'none',
    'kill',
    'freeze',
    'throttle',
    'bfcache',
    'close-connection',
    'dead-connection',
    'hang-transaction',
    'lose-database',
    'clear-storage',
    'quota',
    'corrupt',
    'browser-crash',
    'suspend',
    'orphaned-lock',
    'clock-jump',
];

export const MODELS = /** @type {const} */ (['mutexed', 'interleaved', 'cached']);

/**
 * @param {'brief' | 'usual' | 'deep'} [bound]  how far each cell is explored: see matrix.hpp
 * @returns {Promise<MatrixCell[]>} in the order of strategies, models and faults
 */
export async function computeMatrix(bound = 'usual') {
    await build('native-release', ['tabacus_matrix']);
    const tools = await toolchain();
    const log = join(logFolder, 'matrix.jsonl');
    const file = join(buildFolder, 'native-release/tabacus_matrix');
    rmSync(log, { force: true });
    await run(tools.command(file, bound === 'usual' ? [] : [`--${bound}`]), log);
    return ordered(cellsOf(readFileSync(log, 'utf8')));
}

/**
 * @param {string} text a line of JSON for each cell
 * @returns {MatrixCell[]}
 */
export const cellsOf = (text) =>
    text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));

/** @param {MatrixCell[]} cells as they were done */
function ordered(cells) {
    /** @type {readonly string[]} */
    const strategies = STRATEGIES;
    /** @param {MatrixCell} cell */
    const position = ({ strategy, model, fault }) =>
        (strategies.indexOf(strategy) * MODELS.length + MODELS.indexOf(model)) * FAULTS.length +
        FAULTS.indexOf(fault);
    return [...cells].sort((a, b) => position(a) - position(b));
}

/** @template T @param {T[]} values */
export const unique = (values) => [...new Set(values)];

/** @param {MatrixCell[]} cells */
export const contradictions = (cells) =>
    cells
        .filter(({ contradicts }) => contradicts)
        .map((cell) => {
            const { failure, seed } = cell.parts.find(({ verdict }) => verdict === 'broken') ?? {};
            return `${nameOf(cell)} is declared "${cell.declared}": ${failure} (${seed})`;
        });

/** @param {MatrixCell} cell */
export const nameOf = ({ strategy, model, fault }) => `${strategy}, ${model}, ${fault}`;

/**
 * The strategies that lost updates in real tabs, although no cell without a fault calls them broken.
 *
 * @param {MatrixCell[]} cells
 * @param {{ runs: { engine: string, rows: { strategy: string, lost: number }[] }[] }} [reality]
 */
export function deniedByMatrix(cells, reality = seenInReality()) {
    const broken = new Set(
        cells
            .filter(({ fault, verdict }) => fault === 'none' && verdict === 'broken')
            .map(({ strategy }) => strategy),
    );
    return reality.runs.flatMap(({ engine, rows }) =>
        rows
            .filter(({ strategy, lost }) => lost > 0 && !broken.has(strategy))
            .map(({ strategy }) => `${engine}: ${strategy}`),
    );
}

export const seenInReality = () => JSON.parse(readFileSync(join(repository, 'docs/reality.json'), 'utf8'));
