/** The calls of the piece `counters`, which every tab loads. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** The calls of js/core/bridge.js. @type {ExportedCall[]} */
export const core = [
    {
        name: 'tab_buffer',
        doc: 'Makes room for packed values, and returns its address.',
        target: 'packed_buffer',
        params: { size: 'int' },
        returns: 'int',
        raw: true,
        byHand: true,
    },
    {
        name: 'tab_new',
        doc: 'Makes the core of the program. Requires that the name of its namespace is packed.',
        target: 'core',
        returns: 'int',
        raw: true,
        byHand: true,
    },
    {
        name: 'tab_event',
        doc: 'Reports an event of the host (bridge/host.js).',
        target: 'core',
        params: { core: 'Core&', event: 'int', number: 'int' },
        raw: true,
        byHand: true,
    },
];

/** The calls on any counter. @type {ExportedCall[]} */
export const counter = [
    {
        name: 'count_value',
        doc: 'Returns the best-known value of a counter. A value beyond ±(2^53 − 1) is rounded, but stays beyond.',
        target: 'counter.value',
        params: { counter: 'CounterCore&' },
        returns: 'number',
        raw: true,
    },
    {
        name: 'count_read',
        doc: 'Reads the value of a counter.',
        target: 'counter.read',
        params: { counter: 'CounterCore&' },
        answers: 'number',
        raw: true,
    },
    {
        name: 'count_flush',
        doc: 'Commits what was added to a counter.',
        target: 'counter.flush',
        params: { counter: 'CounterCore&' },
        answers: 'nothing',
        raw: true,
    },
];

/** @type {ExportedCall[]} */
export const counters = [
    { name: 'tab_open', doc: 'Detects what the platform has.', target: 'core.open', answers: 'nothing' },
    {
        name: 'tab_close',
        doc: 'Commits what is pending, and releases everything.',
        target: 'core.close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'tab_capabilities',
        doc: 'Returns what this context has.',
        target: 'core.capabilities',
        now: 'Capabilities',
    },
    {
        name: 'tab_counter',
        doc: 'Returns the replicated counter of a name.',
        target: 'core.counter',
        params: { name: 'text', durability: 'Durability' },
        returns: 'ReplicatedCore*',
    },
    {
        name: 'count_increment',
        doc: 'Adds at once, and returns the value. If it would be out of range, adds nothing and returns NaN.',
        target: 'counter.increment',
        params: { counter: 'ReplicatedCore&', n: 'number' },
        returns: 'number',
        raw: true,
    },
];
