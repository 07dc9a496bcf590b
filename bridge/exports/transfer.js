/** The calls of the piece `transfer`: all counters at once, and the states of counters. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const transfer = [
    {
        name: 'transfer_new',
        doc: 'Makes the core that reads and merges rows of counters.',
        target: 'make_transfer',
        params: { tab: 'TabCore&' },
        returns: 'TransferCore*',
    },
    {
        name: 'counter_state',
        doc: 'Reads the committed rows of a replicated counter.',
        target: 'transfer.state',
        params: { transfer: 'TransferCore&', counter: 'text' },
        answers: 'list<TransferredRow>',
    },
    {
        name: 'counter_values',
        doc: 'Reads the committed values of all replicated counters whose names begin with the prefix.',
        target: 'transfer.values',
        params: { transfer: 'TransferCore&', prefix: 'text' },
        answers: 'list<CounterValue>',
    },
    {
        name: 'counter_merge',
        doc: 'Merges rows into a replicated counter.',
        target: 'transfer.merge',
        params: { transfer: 'TransferCore&', counter: 'text', rows: 'list<TransferredRow>' },
        answers: 'nothing',
    },
];
