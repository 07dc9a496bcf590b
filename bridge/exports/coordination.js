/** The calls of the core that coordinates tabs, in the piece `locks`. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const coordination = [
    {
        name: 'coordination_new',
        doc: 'Makes the core that coordinates tabs: for the other strategies, locks, queues and limits.',
        target: 'make_coordination',
        params: { tab: 'TabCore&' },
        returns: 'CoordinationCore*',
    },
    {
        name: 'coordination_close',
        doc: 'Closes all locks; each held lock is lost.',
        target: 'coordination.close',
    },
];
