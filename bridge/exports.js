/**
 * The exports of a tab's program, which JavaScript calls. Each is a function of the module of its group in
 * js/core/generated. In C++ it is a function of the same name in wasm/src/bindings/generated, which calls `target`.
 */

/**
 * @typedef {object} ExportedCall
 * @property {string} name
 * @property {string} doc
 * @property {string} target what the export calls in C++, with its parameters in their order
 * @property {Record<string, string>} [params] the types of the parameters. A class of C++ with & is an object of the
 *   program, which is passed by its address. Numbers are passed as numbers, all other values packed
 * @property {string} [answers] the type of the value to which the returned promise resolves, or `nothing`
 * @property {string} [now] the type of the answer, if C++ gives it before the call returns; then the call returns it
 * @property {string} [returns] the type that C++ returns; such a call has no answer
 * @property {boolean} [always] whether it may be called however many calls are unanswered
 * @property {boolean} [raw] whether it has no function in JavaScript: callers call the export itself, since speed
 *   counts
 * @property {boolean} [byHand] whether it is written by hand, in wasm/src/bindings/counters.cpp
 */

/** The calls of js/core/bridge.js. @type {ExportedCall[]} */
const core = [
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
        doc: 'Makes the core of the program; its namespace is packed.',
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
const counter = [
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
const counters = [
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

/** @type {ExportedCall[]} */
const coordination = [
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

/** @type {ExportedCall[]} */
const catalogue = [
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

/** @type {ExportedCall[]} */
const locks = [
    {
        name: 'locks_capabilities',
        doc: 'Returns what the locks of this context are built on.',
        target: 'coordination.locks().capabilities',
        now: 'LockCapabilities',
    },
    {
        name: 'lock_acquire',
        doc: 'Acquires the locks of all names, or none of them. Answers the number of each held lock.',
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
        doc: 'Loses a held lock if its maxHold is over.',
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
        doc: 'Begins to call lock_changed with this number.',
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
        doc: 'Reads a value. Answers a number of js/host/values.js, or null if there is no value.',
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
        doc: 'Writes, and commits.',
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

/** @type {ExportedCall[]} */
const leader = [
    {
        name: 'semaphore_acquire',
        doc: 'Acquires one permit. Answers the number of the held lock, or nothing.',
        target: 'coordination.locks().acquire_permit',
        params: { name: 'text', permits: 'int', options: 'LockOptions', within: 'int', request: 'int' },
        answers: 'list<int>',
    },
    {
        name: 'once_enter',
        doc: 'Enters a single flight. Answers an outcome, or the number of the held lock under which to run.',
        target: 'coordination.locks().enter',
        params: { key: 'text', options: 'LockOptions', age: 'OnceAge', request: 'int' },
        answers: 'OnceEntry',
    },
    {
        name: 'once_settle',
        doc: 'Keeps the outcome of a run, and releases its lock.',
        target: 'coordination.locks().settle_once',
        params: { key: 'text', held: 'int', outcome: 'OnceOutcome' },
        answers: 'nothing',
    },
    {
        name: 'leader_call',
        doc: 'Calls the leader. The request is a number of js/host/values.js.',
        target: 'coordination.leader().call',
        params: { name: 'text', call: 'text', options: 'LeaderCallOptions', request: 'int' },
        answers: 'LeaderAnswer',
    },
    {
        name: 'leader_begin',
        doc: 'Begins to answer calls, in the term of a held lock.',
        target: 'coordination.leader().begin_term',
        params: { name: 'text', term: 'int' },
        answers: 'nothing',
    },
    {
        name: 'leader_next',
        doc: 'Waits for a call. Answers nothing if the term was handed over.',
        target: 'coordination.leader().next',
        params: { name: 'text', term: 'int' },
        answers: 'LeaderCall?',
    },
    {
        name: 'leader_answering',
        doc: 'Begins the transaction that answers a call. Answers its number, or 0 if the call was withdrawn.',
        target: 'coordination.leader().begin_answer',
        params: { name: 'text', id: 'text', term: 'int' },
        answers: 'int',
    },
    {
        name: 'leader_answer',
        doc: 'Commits an answer, together with writes.',
        target: 'coordination.leader().answer',
        params: {
            name: 'text',
            id: 'text',
            transaction: 'int',
            answer: 'LeaderAnswer',
            writes: 'list<FencedWrite>',
        },
        answers: 'nothing',
    },
];

/** @type {ExportedCall[]} */
const queues = [
    {
        name: 'queues_online',
        doc: 'Reports that the browser is online again.',
        target: 'coordination.queues().online',
    },
    { name: 'queues_close', doc: 'Closes all queues.', target: 'coordination.queues().close' },
    {
        name: 'queue_open',
        doc: 'Opens a queue, and returns its number.',
        target: 'coordination.queues().open',
        params: { name: 'text', options: 'QueueOptions' },
        returns: 'int',
    },
    {
        name: 'queue_enqueue',
        doc: 'Enqueues a job.',
        target: 'coordination.queues().enqueue',
        params: { queue: 'int', job: 'JobSpec' },
        answers: 'JobReceipt',
    },
    {
        name: 'queue_handle',
        doc: 'Begins to run jobs of these kinds.',
        target: 'coordination.queues().handle',
        params: { queue: 'int', kinds: 'list<text>' },
    },
    {
        name: 'queue_handle_all',
        doc: 'Begins to run all jobs.',
        target: 'coordination.queues().handle_all',
        params: { queue: 'int' },
    },
    {
        name: 'queue_stop',
        doc: 'Claims no further jobs. The runs under way go on to their end.',
        target: 'coordination.queues().stop',
        params: { queue: 'int' },
    },
    {
        name: 'queue_leave',
        doc: 'Settles the jobs that have ended, and returns all other claimed ones to the queue.',
        target: 'coordination.queues().leave',
        params: { queue: 'int' },
        answers: 'nothing',
    },
    {
        name: 'queue_finish',
        doc: 'Reports that a run has ended. The jobs `next` are enqueued in the transaction that settles it.',
        target: 'coordination.queues().finish',
        params: { queue: 'int', run: 'int', succeeded: 'bool', value: 'QueueValue', next: 'list<JobSpec>' },
    },
    {
        name: 'queue_progress',
        doc: 'Notifies all tabs of the progress of a run.',
        target: 'coordination.queues().progress',
        params: { queue: 'int', run: 'int', fraction: 'number', note: 'text' },
    },
    {
        name: 'queue_pause',
        doc: 'Pauses a queue.',
        target: 'coordination.queues().pause',
        params: { queue: 'int' },
        answers: 'nothing',
    },
    {
        name: 'queue_resume',
        doc: 'Resumes a queue.',
        target: 'coordination.queues().resume',
        params: { queue: 'int' },
        answers: 'nothing',
    },
    {
        name: 'queue_idle',
        doc: 'Waits until nothing is queued or running.',
        target: 'coordination.queues().idle',
        params: { queue: 'int' },
        answers: 'nothing',
    },
    {
        name: 'queue_count',
        doc: 'Reads the number of jobs.',
        target: 'coordination.queues().count',
        params: { queue: 'int' },
        answers: 'QueueCount',
    },
    {
        name: 'queue_clear',
        doc: 'Cancels all jobs. Answers how many they were.',
        target: 'coordination.queues().clear',
        params: { queue: 'int' },
        answers: 'number',
    },
    {
        name: 'queue_cancel',
        doc: 'Cancels the job of a key. Answers whether there was one.',
        target: 'coordination.queues().cancel',
        params: { queue: 'int', key: 'text' },
        answers: 'bool',
    },
    {
        name: 'queue_retry',
        doc: 'Makes a dead letter a job again. Answers whether there was one.',
        target: 'coordination.queues().retry',
        params: { queue: 'int', id: 'text' },
        answers: 'bool',
    },
    {
        name: 'queue_discard',
        doc: 'Discards a dead letter. Answers whether there was one.',
        target: 'coordination.queues().discard',
        params: { queue: 'int', id: 'text' },
        answers: 'bool',
    },
    {
        name: 'queue_list',
        doc: 'Lists jobs, in the order in which they will run.',
        target: 'coordination.queues().list',
        params: { queue: 'int', which: 'JobList' },
        answers: 'list<JobInfo>',
    },
];

/** @type {ExportedCall[]} */
const limits = [
    {
        name: 'limits_close',
        doc: 'Returns the unspent rights that this tab holds.',
        target: 'coordination.limits().close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'limits_durable',
        doc: 'Returns whether limits hold over tabs.',
        target: 'coordination.limits().limits().durable',
        returns: 'bool',
    },
    {
        name: 'sequence_new',
        doc: 'Returns the sequence of a name.',
        target: 'coordination.limits().sequence',
        params: { name: 'text', block: 'int64', gapless: 'bool' },
        returns: 'Sequence*',
    },
    {
        name: 'sequence_next',
        doc: 'Returns the next number, or 0 if sequence_reserve() must reserve it.',
        target: 'sequence.next_now',
        params: { sequence: 'Sequence&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'sequence_reserve',
        doc: 'Reserves numbers. Answers the first one.',
        target: 'coordination.limits().reserve',
        params: { sequence: 'Sequence&', count: 'int64' },
        answers: 'number',
    },
    {
        name: 'budget_new',
        doc: 'Returns the budget of a name.',
        target: 'coordination.limits().budget',
        params: { name: 'text', limit: 'int64' },
        returns: 'Budget*',
    },
    {
        name: 'budget_take',
        doc: 'Takes n of the rights that this tab holds. Returns false if it holds fewer; then budget_ask() takes them.',
        target: 'budget.take_now',
        params: { budget: 'Budget&', n: 'int64' },
        returns: 'bool',
        raw: true,
    },
    {
        name: 'budget_ask',
        doc: 'Takes n from the budget if there are as many. Answers whether it did.',
        target: 'coordination.limits().take',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'bool',
    },
    {
        name: 'budget_give',
        doc: 'Returns n to the budget.',
        target: 'coordination.limits().give',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'nothing',
    },
    {
        name: 'budget_available',
        doc: 'Returns the best-known remainder of the budget.',
        target: 'budget.available',
        params: { budget: 'Budget&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'budget_refresh',
        doc: 'Reads the remainder of the budget.',
        target: 'coordination.limits().refresh',
        params: { budget: 'Budget&' },
        answers: 'nothing',
    },
    {
        name: 'rate_new',
        doc: 'Returns the rate limit of a name.',
        target: 'coordination.limits().rate_limit',
        params: { name: 'text', limit: 'int64', interval_ms: 'int64' },
        returns: 'RateLimit*',
    },
    {
        name: 'rate_take',
        doc: 'Waits until the limit allows another call.',
        target: 'coordination.limits().pass',
        params: { rate: 'RateLimit&', timeout_ms: 'number?', request: 'int' },
        answers: 'nothing',
    },
    {
        name: 'rate_try',
        doc: 'Takes a permit for a call if the limit allows one now. Answers whether it did.',
        target: 'coordination.limits().try_pass',
        params: { rate: 'RateLimit&' },
        answers: 'bool',
    },
    {
        name: 'rate_abort',
        doc: 'Aborts a request that waits.',
        target: 'coordination.limits().abort',
        params: { request: 'int' },
    },
    {
        name: 'counter_state',
        doc: 'Reads the committed rows of a replicated counter.',
        target: 'coordination.limits().state',
        params: { counter: 'text' },
        answers: 'list<TransferredRow>',
    },
    {
        name: 'counter_merge',
        doc: 'Merges rows into a replicated counter.',
        target: 'coordination.limits().merge',
        params: { counter: 'text', rows: 'list<TransferredRow>' },
        answers: 'nothing',
    },
];

/** The groups of exports. A group is loaded with the JavaScript that uses it. */
export const groups = {
    counters,
    coordination: [...coordination, ...catalogue],
    locks: [...locks, ...leader],
    queues,
    limits,
};

/** All exports. @type {ExportedCall[]} */
export const exported = [...core, ...counter, ...Object.values(groups).flat()];

/** The exports by the C++ file that has them. @type {Record<string, ExportedCall[]>} */
export const bindings = {
    counters: [...core, ...counter, ...counters],
    coordination: [...groups.coordination, ...groups.locks, ...queues, ...limits],
};

/**
 * A piece of the program.
 *
 * @typedef {object} Piece
 * @property {ExportedCall[]} exports
 * @property {string[]} [entered] classes and methods of C++ through whose virtual tables other pieces call this one,
 *   and only once it is loaded. Only this piece, and pieces that are loaded after it, may call such a method
 * @property {boolean} [alone] whether it is loaded without `locks`, and calls only functions of `counters`
 */

/**
 * The pieces of the program, by the names of their files. A function is in the piece whose exports need it. A function
 * that several pieces need is in `counters`, which is always loaded, if `counters` needs it or one of these pieces is
 * loaded alone. Otherwise it is in `locks`, which is loaded with each of the other pieces.
 *
 * @type {Record<string, Piece>}
 */
export const pieces = {
    counters: { exports: [...core, ...counter, ...counters] },
    locks: { exports: [...coordination, ...locks], entered: ['tabacus::browser::BrowserLocks::query'] },
    storage: { exports: [], entered: ['tabacus::StorageReplica'], alone: true },
    leader: { exports: leader },
    lease: { exports: [], entered: ['tabacus::LeaseLock'] },
    queue: { exports: queues },
    limits: { exports: limits },
    catalogue: {
        exports: catalogue,
        entered: ['tabacus::ReplicatedCounter::add', 'tabacus::ReplicatedCounter::guarantee'],
    },
};
