/** Lays out the matrix: with a line for each strategy and model for a terminal, or as docs/matrix.md. */

import { MODELS, nameOf, unique } from './matrix.js';

/** @typedef {import('./matrix.js').MatrixCell} MatrixCell */

const SIGNS = {
    proved: 'proved',
    'unbroken within the bound': 'holds',
    broken: 'broken',
    'not explored': '–',
};

/** @param {MatrixCell} cell */
const sign = (cell) => SIGNS[cell.verdict] + (cell.contradicts ? ' !' : cell.unfound ? ' ?' : '');

/** @param {MatrixCell[]} cells */
const faultsOf = (cells) => unique(cells.map(({ fault }) => fault));

/**
 * @param {MatrixCell[]} cells
 * @returns {{ strategy: string, model: string, cells: MatrixCell[] }[]}
 */
const rowsOf = (cells) =>
    unique(cells.map(({ strategy }) => strategy)).flatMap((strategy) =>
        MODELS.map((model) => ({
            strategy,
            model,
            cells: cells.filter((cell) => cell.strategy === strategy && cell.model === model),
        })).filter((row) => row.cells.length > 0),
    );

/** @param {MatrixCell[]} cells */
export function summary(cells) {
    const faults = faultsOf(cells);
    const lines = [
        ['strategy', 'model', ...faults],
        ...rowsOf(cells).map((row) => [row.strategy, row.model, ...row.cells.map(sign)]),
    ];
    /** @param {number} column */
    const width = (column) => Math.max(...lines.map((line) => line[column]?.length ?? 0));
    const table = lines.map((line) =>
        line
            .map((word, i) => word.padEnd(width(i)))
            .join('  ')
            .trimEnd(),
    );
    return [...table, '', totals(cells)].join('\n');
}

/** @param {MatrixCell[]} cells */
function totals(cells) {
    const parts = cells.flatMap((cell) => cell.parts);
    const sum = (/** @type {'schedules' | 'steps'} */ key) =>
        parts.reduce((total, part) => total + part[key], 0).toLocaleString('en');
    const unfound = cells.filter((cell) => cell.unfound).length;
    return (
        `${cells.length} cells, ${sum('schedules')} schedules, ${sum('steps')} steps; ` +
        `${cells.filter((cell) => cell.contradicts).length} contradict what is declared, ` +
        `${unfound} declare a loss or an excess that was not found (?)`
    );
}

/**
 * @param {MatrixCell[]} cells
 * @param {boolean} deep
 * @param {MatrixCell[]} deeper cells of an earlier run with --deep
 */
export function markdown(cells, deep, deeper = []) {
    const faults = faultsOf(cells);
    const command = `npm run matrix -- ${deep ? '--deep ' : ''}--markdown`;
    return `# The matrix

Made by \`${command}\`; how to read it is in [laboratory.md](laboratory.md).

Each cell is two tabs of three increments and three tabs of two, with at most one fault of its kind in a
run. *proved*: under every schedule. *holds*: under every schedule within the bound that stands below, and
under seeded ones. *broken*: some schedule loses an update or counts one twice; its seed stands below. A
question mark: the strategy declares a loss (or a value too large) that was not found. –: not explored.

| strategy | model | ${faults.join(' | ')} |
|---|---|${faults.map(() => '---').join('|')}|
${rowsOf(cells)
    .map((row) => `| \`${row.strategy}\` | ${row.model} | ${row.cells.map(sign).join(' | ')} |`)
    .join('\n')}

${totals(cells)}.

## How far each was explored

${explored(cells)}
${deeper.length > 0 ? `\n## With --deep\n\nThe cells of earlier runs (matrix-deep.jsonl). Steps, seconds and seeds are kept there, too.\n\n${explored(deeper)}\n` : ''}
## What breaks them

\`npx tabacus explore --seed <seed>\` replays a seed.

${broken(cells)}
`;
}

/** @param {MatrixCell[]} cells */
function explored(cells) {
    const lines = cells
        .filter(({ verdict }) => verdict === 'proved' || verdict === 'unbroken within the bound')
        .map((cell) => {
            const parts = cell.parts
                .filter(({ sought }) => sought === 'any')
                .map(
                    ({ tabs, adds, bound, schedules }) =>
                        `${tabs} × ${adds}: ${bound} (${schedules.toLocaleString('en')})`,
                );
            return `| ${nameOf(cell)} | ${parts.join('<br>')} |`;
        });
    return ['| strategy, model, fault | tabs × increments: bound (schedules) |', '|---|---|', ...lines].join(
        '\n',
    );
}

/** @param {MatrixCell[]} cells */
function broken(cells) {
    const lines = cells.flatMap((cell) => {
        const part = cell.parts.find(({ verdict }) => verdict === 'broken');
        return part ? [`| ${nameOf(cell)} | ${part.failure} | \`${part.seed}\` |`] : [];
    });
    return ['| strategy, model, fault | what is wrong | seed |', '|---|---|---|', ...lines].join('\n');
}
