/**
 * The calls that C++ makes in JavaScript, and the events that JavaScript reports to C++. Each call is a function of
 * the namespace tabacus::browser::host in C++, and a method of the object `on` in JavaScript.
 */

/**
 * @typedef {object} HostCall
 * @property {string} name
 * @property {string} doc
 * @property {string} on the object in JavaScript, as an expression of `host`, `bridge` and the parameters
 * @property {string} type the class of that object
 * @property {string} file the file that defines the class
 * @property {string} [method] the method of the object; by default, the name of the call without the word before its
 *   first _
 * @property {boolean} [property] whether it is a property, which is read and not called
 * @property {string} [returns] `bool` or `number`
 * @property {string} [settles] what the event `settled` answers for `operation`, later or before the call returns
 * @property {Record<string, string | Record<string, string>>} [params] the types of the parameters; an inner record is
 *   passed as one object in JavaScript. A `packed` value is one that the receiver unpacks itself
 */

/** @typedef {Omit<HostCall, 'on' | 'type' | 'file'>} CallOn */

/** @param {string} on @param {string} type @param {string} file @param {CallOn[]} calls @returns {HostCall[]} */
const of = (on, type, file, calls) => calls.map((call) => ({ on, type, file, ...call }));

/** The calls to the parts of the host, js/host: what the World of a tab needs of its platform. @type {HostCall[]} */
export const hostCalls = [
    ...of('host.storage', 'StorageHost', 'js/host/local-storage.js', [
        {
            name: 'storage_available',
            doc: 'Whether there is a localStorage.',
            property: true,
            returns: 'bool',
        },
        {
            name: 'storage_get',
            doc: 'Reads a value.',
            settles: 'the value, or null',
            params: { key: 'text' },
        },
        {
            name: 'storage_set',
            doc: 'Writes a value.',
            settles: 'nothing',
            params: { key: 'text', value: 'text' },
        },
        { name: 'storage_remove', doc: 'Removes a value.', settles: 'nothing', params: { key: 'text' } },
        {
            name: 'storage_keys',
            doc: 'Lists the keys that begin with the prefix.',
            settles: 'the keys',
            params: { prefix: 'text' },
        },
        {
            name: 'storage_watch',
            doc: 'Begins to report changes of keys that begin with the prefix.',
            params: { prefix: 'text' },
        },
    ]),
    ...of('host.database', 'DatabaseHost', 'js/host/database.js', [
        {
            name: 'database_available',
            doc: 'Whether there is an IndexedDB.',
            property: true,
            returns: 'bool',
        },
        {
            name: 'database_open',
            doc: 'Opens the connection, if it is not open.',
            settles: 'nothing',
        },
        {
            name: 'database_begin',
            doc: 'Begins a transaction. Further calls name it by the number `operation`.',
            settles: 'nothing',
            params: { options: { scope: 'set<Store>', access: 'Access', durability: 'Durability' } },
        },
        { name: 'database_close', doc: 'Closes the connection once its transactions have ended.' },
        {
            name: 'transaction_end',
            method: 'forget',
            doc: 'Forgets a transaction, and aborts it unless a commit was requested.',
            params: { transaction: 'int' },
        },
    ]),
    ...of('host.database.transaction(transaction)?', 'TransactionHost', 'js/host/transaction.js', [
        {
            name: 'transaction_get',
            doc: 'Reads a row.',
            settles:
                'its key and its value, or null for a value that is not a string; nothing if there is no row',
            params: { transaction: 'int', store: 'Store', key: 'text' },
        },
        {
            name: 'transaction_list',
            doc: 'Reads the first `limit` rows whose key begins with `prefix` and is not before `from`.',
            settles: 'the key and the value of each row in turn',
            params: { transaction: 'int', store: 'Store', prefix: 'text', limit: 'number', from: 'text' },
        },
        {
            name: 'transaction_holder',
            doc: 'Reads the holder of a subject.',
            settles: 'the holder, or null',
            params: { transaction: 'int', subject: 'text' },
        },
        {
            name: 'transaction_put',
            doc: 'Writes a row.',
            params: { transaction: 'int', store: 'Store', key: 'text', value: 'text' },
        },
        {
            name: 'transaction_remove',
            doc: 'Removes a row.',
            params: { transaction: 'int', store: 'Store', key: 'text' },
        },
        {
            name: 'transaction_remove_range',
            doc: 'Removes the rows from the key `first` to the key `last`, both included.',
            params: { transaction: 'int', store: 'Store', first: 'text', last: 'text' },
        },
        {
            name: 'transaction_claim',
            doc: 'Records the holder of a subject. Aborts if it has another holder.',
            params: { transaction: 'int', subject: 'text', holder: 'text' },
        },
        {
            name: 'transaction_abort',
            doc: 'Aborts, unless a commit was requested.',
            params: { transaction: 'int' },
        },
        {
            name: 'transaction_commit',
            doc: 'Commits.',
            settles: 'nothing, once the outcome is known',
            params: { transaction: 'int' },
        },
    ]),
    ...of('host.locks', 'LocksHost', 'js/host/web-locks.js', [
        { name: 'locks_available', doc: 'Whether there are Web Locks.', property: true, returns: 'bool' },
        {
            name: 'locks_request',
            doc: 'Requests a lock. Further calls name the request by the number `operation`.',
            settles:
                'nothing if it is granted; a text if the request is `if_available` and the lock is not free',
            params: { name: 'text', options: { mode: 'LockMode', if_available: 'bool', steal: 'bool' } },
        },
        { name: 'locks_release', doc: 'Releases a lock.', params: { request: 'int' } },
        { name: 'locks_abort', doc: 'Withdraws a request.', params: { request: 'int' } },
    ]),
    ...of('host.channels', 'ChannelsHost', 'js/host/broadcast-channels.js', [
        {
            name: 'channel_open',
            doc: 'Opens a BroadcastChannel. Returns false if this context has none.',
            returns: 'bool',
            params: { channel: 'int', name: 'text' },
        },
        { name: 'channel_post', doc: 'Posts a message.', params: { channel: 'int', message: 'text' } },
        {
            name: 'channel_post_deferred',
            doc: 'Posts a message that can wait some milliseconds.',
            params: { channel: 'int', message: 'text' },
        },
        { name: 'channel_close', doc: 'Closes a channel.', params: { channel: 'int' } },
    ]),
    ...of('host.clock', 'ClockHost', 'js/host/clock.js', [
        { name: 'clock_now', doc: 'Returns the milliseconds since the Unix epoch.', returns: 'number' },
        { name: 'clock_monotonic', doc: 'Returns milliseconds that never go back.', returns: 'number' },
        {
            name: 'clock_sleep',
            doc: 'Waits for a delay.',
            settles: 'nothing, after the delay',
            params: { delay_ms: 'number' },
        },
        {
            name: 'clock_after_microtasks',
            doc: 'Waits for `count` microtasks, each queued by the one before it.',
            settles: 'nothing, after the last one',
            params: { count: 'int' },
        },
        { name: 'clock_random32', doc: 'Returns 32 random bits.', returns: 'number' },
    ]),
    ...of('host.lifecycle', 'LifecycleHost', 'js/host/lifecycle.js', [
        { name: 'lifecycle_hidden', doc: 'Whether the page is hidden.', property: true, returns: 'bool' },
        {
            name: 'lifecycle_prerendering',
            doc: 'Whether the page is being prerendered, so that it has not been shown yet.',
            property: true,
            returns: 'bool',
        },
        {
            name: 'lifecycle_locks_bar_cache',
            doc: 'Whether this browser keeps a page that holds a lock out of the back/forward cache.',
            property: true,
            returns: 'bool',
        },
    ]),
];

/** The calls of every program to js/core/bridge.js, which calls the program. @type {HostCall[]} */
export const callbacks = [
    ...of('bridge.promises', 'Promises', 'js/core/promises.js', [
        {
            name: 'promise_resolve',
            doc: 'Settles a promise with a number.',
            params: { promise: 'int', value: 'number' },
        },
        {
            name: 'promise_answer',
            doc: 'Settles a promise with an answer of the type that its call describes.',
            params: { promise: 'int', answer: 'packed' },
        },
        {
            name: 'promise_reject',
            doc: 'Settles a promise with an error.',
            params: { promise: 'int', code: 'ErrorCode', message: 'text' },
        },
    ]),
    ...of('bridge', 'Bridge', 'js/core/bridge.js', [
        {
            name: 'counter_changed',
            method: 'counterChanged',
            doc: 'Reports that the value of a counter may have changed.',
            params: { counter: 'int' },
        },
        {
            name: 'notice',
            method: 'notice',
            doc: 'Reports a problem that no call of the application caused.',
            params: { notice: 'Notice' },
        },
    ]),
];

/** The calls that only locks, queues and limits make. @type {HostCall[]} */
export const coordinationCallbacks = [
    ...of('bridge.lockSnapshots', 'LockSnapshots', 'js/host/lock-snapshots.js', [
        {
            name: 'locks_query',
            doc: 'Takes a snapshot of all locks of the origin. If the browser refuses that, requests each lock in `probed` to see whether it is held.',
            settles:
                'a text if the snapshot is complete, or null; then four values for each request: a text if it is held, or null; its name; a text if it is exclusive, or null; its client',
            params: { probed: 'list<text>' },
        },
        {
            name: 'locks_probe',
            doc: 'Finds out whether new documents of the origin share the lock manager of this one. Fails with `unavailable` if they do not.',
            settles: 'nothing',
        },
    ]),
    ...of('bridge.valueChannels', 'ValueChannels', 'js/host/value-channels.js', [
        {
            name: 'value_channel_open',
            method: 'open',
            doc: 'Opens a BroadcastChannel for values. Returns false if this context has none.',
            returns: 'bool',
            params: { channel: 'int', name: 'text' },
        },
        {
            name: 'value_channel_post',
            method: 'post',
            doc: 'Posts a message, and with it the value of the number `value`, unless that text is empty.',
            params: { channel: 'int', message: 'text', value: 'text' },
        },
        {
            name: 'value_copy',
            method: 'copy',
            doc: 'Clones the value of a number, and returns the number of the clone.',
            returns: 'number',
            params: { value: 'text' },
        },
        {
            name: 'value_drop',
            method: 'drop',
            doc: 'Forgets the value of a number.',
            params: { value: 'text' },
        },
    ]),
    ...of('bridge.listeners', 'CoordinationListeners', 'js/core/coordination-listeners.js', [
        {
            name: 'lock_lost',
            method: 'lockLost',
            doc: 'Reports that a held lock was lost.',
            params: { held: 'int', reason: 'text' },
        },
        {
            name: 'lock_changed',
            method: 'lockChanged',
            doc: 'Reports that a tab acquired or released a lock that is watched.',
            params: { watch: 'int' },
        },
        {
            name: 'queue_run',
            method: 'queueRun',
            doc: 'Begins a job in this tab.',
            params: { queue: 'int', run: 'int', job: 'JobInfo' },
        },
        {
            name: 'queue_lost',
            method: 'queueLost',
            doc: 'Reports that this tab has lost its claim on a job that it runs.',
            params: { queue: 'int', run: 'int', reason: 'text' },
        },
        {
            name: 'queue_settled',
            method: 'queueSettled',
            doc: 'Reports that jobs which this tab enqueued have ended.',
            params: { queue: 'int', jobs: 'list<EndedJob>' },
        },
        {
            name: 'queue_event',
            method: 'queueEvent',
            doc: 'Notifies the listeners of a queue of an event, or of a change, in any tab.',
            params: { queue: 'int', notification: 'QueueNotification' },
        },
    ]),
];

/** The calls that only gatherers of what threads add make. @type {HostCall[]} */
export const gatherCallbacks = [
    ...of('cells', 'PageCells', 'js/threads/tab-counter/page-cells.js', [
        {
            name: 'cells_gather',
            doc: 'Begins a gather. Returns the sum that threads have added and cells_take() has not taken yet.',
            returns: 'number',
            params: { cells: 'int' },
        },
        {
            name: 'cells_take',
            doc: 'Records that the tab has counted `n` of what threads have added.',
            params: { cells: 'int', n: 'number' },
        },
        {
            name: 'cells_publish',
            doc: 'Publishes the value that the tab knows.',
            params: { cells: 'int', value: 'number' },
        },
    ]),
];

/**
 * @typedef {object} HostEvent
 * @property {string} name
 * @property {string} doc
 * @property {Record<string, string>} params the first one is not packed if it is a number; `texts` are all values that
 *   follow
 */

/** The events that JavaScript reports to C++. @type {HostEvent[]} */
export const hostEvents = [
    {
        name: 'settled',
        doc: 'An operation has succeeded.',
        params: { operation: 'int', answer: 'texts' },
    },
    {
        name: 'failed',
        doc: 'An operation has failed.',
        params: { operation: 'int', code: 'ErrorCode', message: 'text' },
    },
    {
        name: 'storage_changed',
        doc: 'Another tab has changed a value; without a key, all values were cleared.',
        params: { key: 'text?', old_value: 'text?', new_value: 'text?' },
    },
    {
        name: 'database_created',
        doc: 'The database was created. `data_loss` is what the browser reports of lost data.',
        params: { data_loss: 'text' },
    },
    { name: 'database_closed', doc: 'The browser has closed the connection.', params: {} },
    { name: 'lock_lost', doc: 'Another context has stolen a lock.', params: { request: 'int' } },
    {
        name: 'message',
        doc: 'A channel has received a message.',
        params: { channel: 'int', message: 'text' },
    },
    {
        name: 'lifecycle',
        doc: 'The state of the page has changed.',
        params: { event: 'LifecycleEvent' },
    },
];
