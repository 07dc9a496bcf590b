/** The state of a replicated counter as it travels over an application's own server (docs/sync.md). */

import { invalid } from '../common/errors.js';

/**
 * The cumulative totals of one replica.
 *
 * @typedef {object} StateRow
 * @property {string} node identifies the replica among those of all devices
 * @property {number} epoch identifies an ownership of the replica. Of two rows of one node, the row with the
 *   larger epoch replaces the other; within one epoch the larger of each total counts
 * @property {string} plus the sum of all amounts that were added: a decimal integer from 0 to 2^62 − 1
 * @property {string} minus the sum of all amounts that were subtracted, in the same form
 */

/**
 * The committed rows of a counter, or some of them. It can be written as JSON.
 *
 * @typedef {{ version: 1, rows: StateRow[] }} CounterState
 */

/**
 * A state as merge() accepts it: a server may have converted the texts into numbers, or the numbers into
 * texts.
 *
 * @typedef {{ node: string, epoch: number | string, plus: number | string, minus: number | string }} MergedRow
 * @typedef {{ version: 1, rows: readonly MergedRow[] }} MergedState
 */

/** The most rows of a state, the same as CounterTransfer::rows_max of the program. */
const rowsMax = 100_000;

/** @typedef {import('../core/generated/limits.js').TransferredRow} TransferredRow */

/**
 * Makes a state from the rows that the program returns.
 *
 * @param {TransferredRow[]} rows
 * @returns {CounterState}
 */
export const stateFrom = (rows) => ({
    version: 1,
    rows: rows.map(({ node, record }) => {
        const [, epoch, plus = '', minus = ''] = record.split(';');
        return { node, epoch: Number(epoch), plus, minus };
    }),
});

/**
 * Checks a state, and converts its rows for the program.
 *
 * @param {unknown} state
 * @returns {TransferredRow[]}
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 */
export function rowsFrom(state) {
    if (typeof state !== 'object' || state === null)
        throw invalid('state', state, 'a value that state() returned');
    const { version, rows } = /** @type {{ version?: unknown, rows?: unknown }} */ (state);
    if (version !== 1) throw invalid('state.version', version, '1');
    if (!Array.isArray(rows) || rows.length > rowsMax)
        throw invalid('state.rows', rows, `an array of at most ${rowsMax} rows`);
    // A copy has no holes, which map() would pass over.
    return [...rows].map((row) => {
        const { node, epoch, plus, minus } = row ?? {};
        if (typeof node !== 'string') throw invalid('state.rows', node, 'rows whose node is a string');
        return {
            node,
            record: `1;${digits('epoch', epoch)};${digits('plus', plus)};${digits('minus', minus)}`,
        };
    });
}

/**
 * Checks a field of a row, and returns it as decimal digits.
 *
 * @param {string} field its name in error messages
 * @param {unknown} value
 */
function digits(field, value) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
    if (typeof text !== 'string' || !/^\d{1,19}$/.test(text))
        throw invalid(`state.rows.${field}`, value, 'a count in decimal');
    return text;
}
