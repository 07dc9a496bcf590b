/** The state of a replicated counter as it travels over an application's own server (docs/sync.md). */

import { invalid } from '../common/errors.js';

/**
 * A replica's cumulative totals.
 *
 * @typedef {object} StateRow
 * @property {string} node names the replica, over all devices
 * @property {number} epoch of two rows of one node the one of the newer epoch holds, and within an epoch the
 *   larger totals
 * @property {string} plus what was added, in decimal: up to 2^62 − 1
 * @property {string} minus what was taken away
 */

/**
 * What is committed of a counter, or any part of it. Can be written as JSON.
 *
 * @typedef {{ version: 1, rows: StateRow[] }} CounterState
 */

/**
 * A state as merge() takes it: a server may have made numbers of the texts, or texts of the numbers.
 *
 * @typedef {{ node: string, epoch: number | string, plus: number | string, minus: number | string }} MergedRow
 * @typedef {{ version: 1, rows: readonly MergedRow[] }} MergedState
 */

/** As CounterTransfer::rows_max. */
const rowsMax = 100_000;

/** @typedef {import('../core/generated/limits.js').TransferredRow} TransferredRow */

/**
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
 * @param {unknown} state
 * @returns {TransferredRow[]}
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
 * @param {string} field
 * @param {unknown} value
 */
function digits(field, value) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
    if (typeof text !== 'string' || !/^\d{1,19}$/.test(text))
        throw invalid(`state.rows.${field}`, value, 'a count in decimal');
    return text;
}
