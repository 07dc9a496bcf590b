/**
 * What JavaScript calls in C++: the exports of a tab's program. Each is a function of the module of its group in
 * js/core/generated, and in C++ a function of the same name in wasm/src/bindings/generated, which calls `target`.
 */

/**
 * @typedef {object} ExportedCall
 * @property {string} name
 * @property {string} doc
 * @property {string} target what the export calls in C++, with its parameters in their order
 * @property {Record<string, string>} [params] types by name; a class of C++ with & is an object of the program, by its
 *   address. Numbers are passed as such, all others packed
 * @property {string} [answers] the type that the promise it returns resolves with, or `nothing`
 * @property {string} [now] the same if the answer is given before the call returns, which then returns it
 * @property {string} [returns] the type that C++ returns; excludes an answer
 * @property {boolean} [always] it may be called however many calls are unanswered
 * @property {boolean} [raw] it has no function in JavaScript: its callers call the export itself, as often as they can
 * @property {boolean} [byHand] it is written by hand, in wasm/src/bindings/counters.cpp
 */

/** What js/core/bridge.js calls. @type {ExportedCall[]} */
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

/** What each counter has. @type {ExportedCall[]} */
const counter = [
    {
        name: 'count_value',
        doc: 'The best-known value of a counter; beyond ±(2^53 − 1) it is rounded, and still beyond.',
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
    { name: 'tab_open', doc: 'Finds out what the platform has.', target: 'core.open', answers: 'nothing' },
    {
        name: 'tab_close',
        doc: 'Commits what is pending, and lets everything go.',
        target: 'core.close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'tab_capabilities',
        doc: 'What this context has.',
        target: 'core.capabilities',
        now: 'Capabilities',
    },
    {
        name: 'tab_counter',
        doc: 'The replicated counter of that name.',
        target: 'core.counter',
        params: { name: 'text', durability: 'Durability' },
        returns: 'ReplicatedCore*',
    },
    {
        name: 'count_increment',
        doc: 'Adds at once, and returns the value: NaN, and nothing is added, if it would be out of range.',
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
        doc: 'Makes what coordinates tabs: the other strategies, locks, queues and limits.',
        target: 'make_coordination',
        params: { tab: 'TabCore&' },
        returns: 'CoordinationCore*',
    },
    { name: 'coordination_close', doc: 'Loses every lock.', target: 'coordination.close' },
];

/** @type {ExportedCall[]} */
const catalogue = [
    {
        name: 'catalogue_counter',
        doc: 'The address of the counter of that name and those options. Fails if its strategy cannot work here.',
        target: 'coordination.catalogue().counter',
        params: { name: 'text', options: 'CounterOptions' },
        now: 'number',
    },
    {
        name: 'catalogue_close',
        doc: 'Flushes every counter, and lets its locks go.',
        target: 'coordination.catalogue().close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'count_guarantee',
        doc: 'What a counter promises. The build asks for it, for js/tab/guarantee.js.',
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
        doc: 'What locks are built on here.',
        target: 'coordination.locks().capabilities',
        now: 'LockCapabilities',
    },
    {
        name: 'lock_acquire',
        doc: 'Acquires all of the names, or none. Answers the number of each held lock.',
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
        doc: 'The fencing token of a held lock; NaN if it is shared.',
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
        doc: 'Lists the requests for a lock, of all tabs.',
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
        doc: 'Waits until nobody holds a lock.',
        target: 'coordination.locks().wait_for_unlock',
        params: { name: 'text', timeout_ms: 'number?', request: 'int' },
        answers: 'nothing',
    },
    {
        name: 'lock_watch',
        doc: 'Calls lock_changed with this number from here on.',
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
        target: 'coordination.locks().begin',
        params: { held: 'int' },
        answers: 'int',
    },
    {
        name: 'fenced_get',
        doc: 'Reads a value: a number of js/host/values.js, or null.',
        target: 'coordination.locks().get',
        params: { transaction: 'int', store: 'text', key: 'text' },
        answers: 'text?',
    },
    {
        name: 'fenced_list',
        doc: 'Reads the values whose keys begin with the prefix.',
        target: 'coordination.locks().list',
        params: { transaction: 'int', store: 'text', prefix: 'text' },
        answers: 'list<StoredValue>',
    },
    {
        name: 'fenced_commit',
        doc: 'Writes, and commits.',
        target: 'coordination.locks().commit',
        params: { transaction: 'int', writes: 'list<FencedWrite>' },
        answers: 'nothing',
    },
    {
        name: 'fenced_end',
        doc: 'Aborts a transaction.',
        target: 'coordination.locks().end',
        params: { transaction: 'int' },
    },
];

/** @type {ExportedCall[]} */
const leader = [
    {
        name: 'semaphore_acquire',
        doc: 'Acquires one permit. Answers the number of the held lock, or none.',
        target: 'coordination.locks().acquire_permit',
        params: { name: 'text', permits: 'int', options: 'LockOptions', within: 'int', request: 'int' },
        answers: 'list<int>',
    },
    {
        name: 'once_enter',
        doc: 'Enters a single flight.',
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
        target: 'coordination.locks().call_leader',
        params: { name: 'text', call: 'text', options: 'LeaderCallOptions', request: 'int' },
        answers: 'LeaderAnswer',
    },
    {
        name: 'leader_begin',
        doc: 'Begins to answer calls, in the term of a held lock.',
        target: 'coordination.locks().begin_term',
        params: { name: 'text', term: 'int' },
        answers: 'nothing',
    },
    {
        name: 'leader_next',
        doc: 'Waits for a call. Answers none if the term was handed over.',
        target: 'coordination.locks().next_call',
        params: { name: 'text', term: 'int' },
        answers: 'LeaderCall?',
    },
    {
        name: 'leader_answering',
        doc: 'Begins the transaction that answers a call. Answers its number, or 0 if the call was taken back.',
        target: 'coordination.locks().begin_answer',
        params: { name: 'text', id: 'text', term: 'int' },
        answers: 'int',
    },
    {
        name: 'leader_answer',
        doc: 'Commits an answer, with what is written beside it.',
        target: 'coordination.locks().answer',
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
    { name: 'queues_online', doc: 'The browser is online again.', target: 'coordination.queues().online' },
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
        doc: 'Takes part in the work on jobs of these kinds.',
        target: 'coordination.queues().handle',
        params: { queue: 'int', kinds: 'list<text>' },
    },
    {
        name: 'queue_handle_all',
        doc: 'Takes part in the work on all jobs.',
        target: 'coordination.queues().handle_all',
        params: { queue: 'int' },
    },
    {
        name: 'queue_stop',
        doc: 'Takes part in the work no more.',
        target: 'coordination.queues().stop',
        params: { queue: 'int' },
    },
    {
        name: 'queue_leave',
        doc: 'Settles what has ended, and gives all else back.',
        target: 'coordination.queues().leave',
        params: { queue: 'int' },
        answers: 'nothing',
    },
    {
        name: 'queue_finish',
        doc: 'A run of a job has ended; `next` are the jobs that are enqueued with its settlement if it succeeded.',
        target: 'coordination.queues().finish',
        params: {
            queue: 'int',
            run: 'int',
            job: 'text',
            succeeded: 'bool',
            value: 'QueueValue',
            next: 'list<JobSpec>',
        },
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
        name: 'queue_state',
        doc: 'Reads the state of a queue. `returned`: events were lost, and what ran and does not run has ended.',
        target: 'coordination.queues().state',
        params: { queue: 'int', returned: 'bool' },
        answers: 'QueueState',
    },
    {
        name: 'queue_watch',
        doc: 'Reports what happens in a queue from here on, or does not.',
        target: 'coordination.queues().watch',
        params: { queue: 'int', watched: 'bool' },
    },
    {
        name: 'queue_clear',
        doc: 'Cancels all jobs. Answers how many.',
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
        doc: 'Puts back what is held unspent.',
        target: 'coordination.limits().close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'limits_durable',
        doc: 'Whether limits hold over tabs.',
        target: 'coordination.limits().limits().durable',
        returns: 'bool',
    },
    {
        name: 'sequence_new',
        doc: 'The sequence of that name.',
        target: 'coordination.limits().sequence',
        params: { name: 'text', block: 'int64', gapless: 'bool' },
        returns: 'Sequence*',
    },
    {
        name: 'sequence_next',
        doc: 'The next number; 0 if sequence_reserve must give it.',
        target: 'sequence.next_now',
        params: { sequence: 'Sequence&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'sequence_reserve',
        doc: 'Reserves numbers. Answers the first.',
        target: 'coordination.limits().reserve',
        params: { sequence: 'Sequence&', count: 'int64' },
        answers: 'number',
    },
    {
        name: 'budget_new',
        doc: 'The budget of that name.',
        target: 'coordination.limits().budget',
        params: { name: 'text', limit: 'int64' },
        returns: 'Budget*',
    },
    {
        name: 'budget_take',
        doc: 'Takes n of what this tab holds; false if budget_ask must take them.',
        target: 'budget.take_now',
        params: { budget: 'Budget&', n: 'int64' },
        returns: 'bool',
        raw: true,
    },
    {
        name: 'budget_ask',
        doc: 'Takes n, if there are as many. Answers whether it did.',
        target: 'coordination.limits().take',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'bool',
    },
    {
        name: 'budget_give',
        doc: 'Puts n back.',
        target: 'coordination.limits().give',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'nothing',
    },
    {
        name: 'budget_available',
        doc: 'How many there are, as far as is known.',
        target: 'budget.available',
        params: { budget: 'Budget&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'budget_refresh',
        doc: 'Reads how many there are.',
        target: 'coordination.limits().refresh',
        params: { budget: 'Budget&' },
        answers: 'nothing',
    },
    {
        name: 'rate_new',
        doc: 'The rate limit of that name.',
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
        doc: 'Takes a turn if the limit allows one now. Answers whether it did.',
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
        doc: 'Reads what is committed of a replicated counter.',
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

/** The groups, each for the JavaScript that is loaded with it. */
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
 * @property {string[]} [entered] classes and methods of C++: other pieces enter this one through their virtual tables,
 *   and only when it is loaded. A method is one that only this piece calls, and those that are loaded after it
 * @property {boolean} [alone] it is loaded without `locks`, and calls functions of `counters` alone
 */

/**
 * The pieces that the program is split into, by the names of their files. A function is in the piece whose exports
 * need it. What several pieces need is in `counters`, which is always loaded, if that needs it or one of them is loaded
 * alone, and else in `locks`, which is loaded with each of the others.
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
