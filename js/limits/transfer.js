/**
 * All counters at once, and the state of a replicated counter as it travels over an application's own server
 * (docs/sync.md).
 */

import { checkName, checkOptions } from '../common/check-arguments.js';
import { invalid, TabacusError } from '../common/errors.js';
import { counterMerge, counterState, counterValues, transferNew } from '../core/generated/transfer.js';

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

/** @typedef {import('../core/generated/transfer.js').TransferredRow} TransferredRow */

/**
 * Makes a state from the rows that the program returns.
 *
 * @param {TransferredRow[]} rows
 * @returns {CounterState}
 */
const stateFrom = (rows) => ({
    version: 1,
    rows: rows.map(({ node, record }) => {
        const [epoch, plus = '', minus = ''] = record.split(';');
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
function rowsFrom(state) {
    if (typeof state !== 'object' || state === null)
        throw invalid('state', state, 'a value that state() returned');
    const { version, rows } = /** @type {{ version?: unknown, rows?: unknown }} */ (state);
    if (version !== 1) throw invalid('state.version', version, '1');
    if (!Array.isArray(rows) || rows.length > rowsMax)
        throw invalid('state.rows', rows, `an array of at most ${rowsMax} rows`);
    // A copy has no holes, which map() would pass over. The program expects the rows in the order of their nodes.
    const checked = [...rows].map((row) => {
        const { node, epoch, plus, minus } = row ?? {};
        if (typeof node !== 'string') throw invalid('state.rows', node, 'rows whose node is a string');
        return {
            node,
            record: [digits('epoch', epoch), digits('plus', plus), digits('minus', minus)].join(';'),
        };
    });
    return checked.sort((a, b) => (a.node < b.node ? -1 : Number(a.node > b.node)));
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

/** Reads and merges the rows of counters, for an engine. */
export class Transfer {
    #bridge;
    #core;

    /** @param {import('../core/bridge.js').Bridge} bridge */
    constructor(bridge) {
        this.#bridge = bridge;
        this.#core = transferNew(bridge, bridge.core);
    }

    /**
     * Returns the committed rows of a replicated counter: implements ReplicatedCounter.state().
     *
     * @param {string} counter its name
     * @param {boolean} allowWeaker
     */
    async stateOf(counter, allowWeaker) {
        await this.#requireDatabase(allowWeaker);
        return stateFrom(await counterState(this.#bridge, this.#core, counter));
    }

    /**
     * Reads the committed values of counters: implements Tab.readCounters().
     *
     * @param {() => Promise<void>} flush flushes the counters of the handle
     * @param {unknown} options
     * @param {boolean} allowWeaker
     * @returns {Promise<Map<string, number>>}
     */
    async valuesOf(flush, options, allowWeaker) {
        const { prefix = '' } = /** @type {any} */ (checkOptions(options, ['prefix']));
        if (prefix !== '') checkName(prefix, 'prefix');
        await this.#requireDatabase(allowWeaker);
        await flush();
        const values = await counterValues(this.#bridge, this.#core, prefix);
        return new Map(values.map(({ counter, value }) => [counter, value]));
    }

    /**
     * Merges a state into a replicated counter: implements ReplicatedCounter.merge().
     *
     * @param {string} counter its name
     * @param {unknown} state
     * @param {boolean} allowWeaker
     */
    async merge(counter, state, allowWeaker) {
        const rows = rowsFrom(state);
        await this.#requireDatabase(allowWeaker);
        try {
            await counterMerge(this.#bridge, this.#core, counter, rows);
        } catch (error) {
            if (/** @type {TabacusError} */ (error).code !== 'invalid-argument') throw error;
            throw invalid(
                'state.rows',
                /** @type {any} */ (state).rows,
                'rows as counter.state() returns them',
            );
        }
    }

    /**
     * Checks that there is a database, unless the caller allows weaker guarantees: the program then reports that
     * it is missing. A database that refused to open counts as missing from here on.
     *
     * @param {boolean} allowWeaker
     */
    async #requireDatabase(allowWeaker) {
        const { database } = this.#bridge.host;
        await database.ready();
        if (database.refused) database.available = false;
        if (allowWeaker || database.available) return;
        throw new TabacusError(
            'weaker-guarantee',
            'without IndexedDB there are no rows of other tabs: open({ allowWeaker: true }) allows that',
        );
    }
}
