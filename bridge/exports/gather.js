/** The calls of the piece `gather`: counters to which threads add in memory that they share with the page. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const gather = [
    {
        name: 'gather_new',
        doc: 'Makes the gatherer of a counter. The gatherer passes the number `cells` to cells_gather() and the other calls.',
        target: 'make_gatherer',
        params: { counter: 'ReplicatedCore&', cells: 'int' },
        returns: 'GathererCore*',
    },
    {
        name: 'gather_now',
        doc: 'Counts what threads have added. Returns false if that would leave the range of the counter.',
        target: 'gatherer.gather',
        params: { gatherer: 'GathererCore&' },
        returns: 'bool',
    },
    {
        name: 'gather_read',
        doc: 'Counts what threads have added, and reads the value of the counter.',
        target: 'gatherer.read',
        params: { gatherer: 'GathererCore&' },
        answers: 'number',
    },
    {
        name: 'gather_flush',
        doc: 'Commits what threads have added.',
        target: 'gatherer.flush',
        params: { gatherer: 'GathererCore&' },
        answers: 'nothing',
    },
    {
        name: 'gather_end',
        doc: 'Ends a gatherer.',
        target: 'end_gatherer',
        params: { gatherer: 'GathererCore&' },
    },
];
