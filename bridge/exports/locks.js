/** The calls of the piece `locks`: locks, and transactions under their fences. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const locks = [
    {
        name: 'locks_capabilities',
        doc: 'Returns what the locks of this context are built on.',
        target: 'coordination.locks().capabilities',
        now: 'LockCapabilities',
    },
    {
        name: 'lock_acquire',
        doc: 'Acquires the locks of all names, or none of them. Answers the number of each held lock, or an empty list if the request is `ifAvailable` and one of them is not free.',
        target: 'coordination.locks().acquire',
        params: { names: 'list<text>', options: 'LockOptions', within: 'int', request: 'int' },
        answers: 'list<int>',
    },
    {
        name: 'lock_abort',
        doc: 'Aborts a request that waits.',
        target: 'coordination.locks().abort',
        params: { request: 'int' },
    },
    {
        name: 'lock_token',
        doc: 'Returns the fencing token of a held lock, or NaN if the lock is shared.',
        target: 'coordination.locks().token',
        params: { held: 'int' },
        returns: 'number',
    },
    {
        name: 'lock_check',
        doc: 'Reports a held lock as lost if its maxHold has passed.',
        target: 'coordination.locks().check_max_hold',
        params: { held: 'int' },
    },
    {
        name: 'lock_release',
        doc: 'Releases a held lock.',
        target: 'coordination.locks().release',
        params: { held: 'int' },
    },
    {
        name: 'lock_query',
        doc: 'Lists the requests of all tabs for a lock.',
        target: 'coordination.locks().query',
        params: { name: 'text' },
        answers: 'list<LockRequestInfo>',
    },
    {
        name: 'lock_names',
        doc: 'Lists the names of all locks that a tab holds or waits for.',
        target: 'coordination.locks().names',
        answers: 'list<text>',
    },
    {
        name: 'lock_wait',
        doc: 'Waits until no context holds a lock.',
        target: 'coordination.locks().wait_for_unlock',
        params: { name: 'text', timeout_ms: 'number?', request: 'int' },
        answers: 'nothing',
    },
    {
        name: 'lock_watch',
        doc: 'Begins to call lock_changed(watch) whenever a tab acquires or releases the lock.',
        target: 'coordination.locks().watch',
        params: { name: 'text', watch: 'int' },
    },
    {
        name: 'lock_unwatch',
        doc: 'Ends a watch.',
        target: 'coordination.locks().unwatch',
        params: { watch: 'int' },
    },
    {
        name: 'fenced_begin',
        doc: 'Begins a transaction under the fence of a held lock. Answers its number.',
        target: 'coordination.transactions().begin',
        params: { held: 'int' },
        answers: 'int',
    },
    {
        name: 'fenced_get',
        doc: 'Reads a value. Answers the number under which js/host/values.js keeps it, or null if there is no value.',
        target: 'coordination.transactions().get',
        params: { transaction: 'int', store: 'text', key: 'text' },
        answers: 'text?',
    },
    {
        name: 'fenced_list',
        doc: 'Reads the values whose keys begin with the prefix.',
        target: 'coordination.transactions().list',
        params: { transaction: 'int', store: 'text', prefix: 'text' },
        answers: 'list<StoredValue>',
    },
    {
        name: 'fenced_commit',
        doc: 'Makes the writes, and commits the transaction.',
        target: 'coordination.transactions().commit',
        params: { transaction: 'int', writes: 'list<FencedWrite>' },
        answers: 'nothing',
    },
    {
        name: 'fenced_end',
        doc: 'Aborts a transaction.',
        target: 'coordination.transactions().end',
        params: { transaction: 'int' },
    },
];
