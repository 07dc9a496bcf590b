/** The calls of the piece `catalogue`: counters of the other strategies. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const catalogue = [
    {
        name: 'catalogue_counter',
        doc: 'Returns the counter of a name and options. Fails if its strategy cannot work in this context.',
        target: 'coordination.catalogue().counter',
        params: { name: 'text', options: 'CounterOptions' },
        now: 'number',
    },
    {
        name: 'catalogue_close',
        doc: 'Flushes every counter, and releases its locks.',
        target: 'coordination.catalogue().close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'count_guarantee',
        doc: 'Returns the guarantee of a counter. The build calls it, for js/tab/guarantee.js.',
        target: 'counter.guarantee',
        params: { counter: 'CounterCore&' },
        now: 'Guarantee',
    },
    {
        name: 'count_add',
        doc: 'Adds to a counter.',
        target: 'counter.add',
        params: { counter: 'CounterCore&', n: 'number' },
        answers: 'number',
        raw: true,
    },
];
