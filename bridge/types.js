/**
 * The types of the values on the bridge between C++ and JavaScript, as plain data. scripts/lib/bridge-generator.js
 * writes both sides of the bridge from it.
 *
 * A type is one of:
 *
 *     int, number, bool   numbers; `int64` and `number?` are a std::int64_t and a std::optional<double> in C++
 *     text, text?         a string; an absent `text?` is null, and std::nullopt in C++
 *     list<T>             an array
 *     set<E>              a set of enumerators: an EnumSet, and an array of names
 *     bits<E>             a set of enumerators as a number, in which bit n stands for the enumerator of number n
 *     T?                  a std::optional; an absent value is undefined
 *     E, R                an enumeration or a record below
 *
 * Names are written as in C++. In JavaScript they are in camel case, except for a unit at the end (`timeout_ms`).
 */

import { cppErrors } from './errors.js';

/**
 * @typedef {object} Enum
 * @property {string} doc
 * @property {string} [cpp] its name in C++, if that is another one
 * @property {string} [header] the header that declares it; the bridge declares an enumeration without a header
 * @property {Record<string, string>} values the enumerators of C++ in their order, with their names in JavaScript
 * @property {string} [letters] the letters that are the values of the enumerators in C++, if these are not 0, 1, 2, …
 */

/** @type {Record<string, Enum>} */
export const enums = {
    ErrorCode: {
        doc: 'What went wrong.',
        header: 'tabacus/common/error.hpp',
        values: Object.fromEntries(Object.keys(cppErrors).map((code) => [code.replaceAll('-', '_'), code])),
    },
    Store: {
        doc: 'The object stores of the database.',
        header: 'tabacus/common/world.hpp',
        values: {
            meta: 'meta',
            claims: 'claims',
            rows: 'rows',
            counters: 'counters',
            quarantine: 'aside',
            deltas: 'deltas',
            locks: 'locks',
            data: 'data',
            jobs: 'jobs',
            limits: 'limits',
        },
    },
    LockMode: {
        doc: 'How a lock is held.',
        header: 'tabacus/common/world.hpp',
        values: { exclusive: 'exclusive', shared: 'shared' },
    },
    Access: {
        doc: 'What a transaction may do.',
        header: 'tabacus/common/world.hpp',
        values: { read: 'readonly', write: 'readwrite' },
    },
    Durability: {
        doc: 'How far a commit must get before it is reported.',
        header: 'tabacus/common/world.hpp',
        values: { relaxed: 'relaxed', strict: 'strict' },
    },
    LifecycleEvent: {
        doc: 'What happened to the page.',
        header: 'tabacus/common/world.hpp',
        values: {
            hidden: 'hidden',
            visible: 'visible',
            frozen: 'frozen',
            resumed: 'resumed',
            page_hide: 'pageHide',
            page_show: 'pageShow',
        },
    },
    Strategy: {
        doc: 'The strategies beside the default one.',
        header: 'tabacus/strategy/catalogue.hpp',
        values: {
            naive: 'naive',
            log: 'log',
            lamport: 'lamport',
            eventual: 'eventual',
            transactional: 'transactional',
            locked: 'locked',
            optimistic: 'optimistic',
            deltas: 'deltas',
            batched: 'batched',
        },
    },
    FaultClass: {
        doc: 'The conditions under which a strategy may count wrongly, by their public names.',
        header: 'tabacus/common/guarantee.hpp',
        values: {
            none: 'concurrent updates',
            kill: 'tab killed',
            freeze: 'tab frozen',
            throttle: 'timers throttled',
            bfcache: 'page in the back/forward cache',
            connection_closed: 'connection closed',
            database_lost: 'database lost',
            storage_cleared: 'site data cleared',
            quota: 'quota exceeded',
            corrupt_record: 'record corrupted',
            browser_crash: 'browser crashed',
        },
    },
    Exclusion: {
        doc: 'How tabs exclude each other.',
        header: 'tabacus/lock/lock.hpp',
        values: { web_locks: 'web-locks', lease: 'lease', page: 'page' },
    },
    JobState: {
        doc: 'The state of a job.',
        cpp: 'JobInfo::State',
        header: 'tabacus/queue/queue.hpp',
        values: { queued: 'queued', delayed: 'delayed', running: 'running', dead: 'dead' },
    },
    JobEnd: {
        doc: 'How a job ended.',
        cpp: 'JobOutcome::Kind',
        header: 'tabacus/queue/queue.hpp',
        values: { done: 'done', failed: 'failed', cancelled: 'cancelled' },
        letters: 'sfx',
    },
    QueueEventKind: {
        doc: 'What has happened in a queue.',
        cpp: 'QueueEvent::Kind',
        header: 'tabacus/queue/queue.hpp',
        values: {
            queued: 'queued',
            running: 'running',
            progress: 'progress',
            done: 'done',
            failed: 'failed',
            returned: 'returned',
            cancelled: 'cancelled',
            paused: 'paused',
            resumed: 'resumed',
            changed: 'changed',
        },
        letters: 'qrpdfbxzcm',
    },
    JobList: {
        doc: 'Which jobs of a queue are listed.',
        values: { jobs: 'jobs', dead_letters: 'deadLetters' },
    },
};

/**
 * @typedef {object} Field
 * @property {string} type
 * @property {string} cpp the member in C++, if it has another name there
 */

/**
 * @typedef {object} Struct
 * @property {string} doc
 * @property {string} [cpp] its name in C++, if that is another one
 * @property {string} [header] the header that declares it; the bridge declares a record without a header
 * @property {'js' | 'cpp' | 'both'} to the side that receives it
 * @property {Record<string, string | Field>} fields
 */

/** @type {Record<string, Struct>} */
export const records = {
    Notice: {
        doc: 'A problem that no call of the application caused.',
        header: 'tabacus/common/counter.hpp',
        to: 'js',
        fields: {
            lost: { type: 'bool', cpp: 'kind' },
            code: 'text',
            message: 'text',
            previous: 'text',
            subject: 'text',
            recovered: 'int',
            failure: 'ErrorCode?',
        },
    },
    Capabilities: {
        doc: 'What this context has, by the public names.',
        header: 'tabacus/replica/tab.hpp',
        to: 'js',
        fields: {
            store: 'text',
            exclusion: 'text',
            durability: 'text',
            channel: 'bool',
        },
    },
    Guarantee: {
        doc: 'What a counter promises. `losses` and `excesses` have three sets of FaultClass each, as bits: for the storage models mutexed, interleaved and cached.',
        header: 'tabacus/common/guarantee.hpp',
        to: 'js',
        fields: {
            strategy: 'text',
            lost: 'text',
            reads_wait: 'text',
            accuracy: 'text',
            rows: 'text',
            needs: 'text',
            durability: 'text',
            losses: { type: 'list<bits<FaultClass>>', cpp: 'losses.lost' },
            excesses: { type: 'list<bits<FaultClass>>', cpp: 'losses.exceeded' },
            flush_needed: { type: 'bool', cpp: 'losses.before_flush' },
        },
    },
    StrategyTimes: {
        doc: 'The times of strategies in milliseconds. Each time belongs to some strategies. If it is absent, their default applies.',
        header: 'tabacus/strategy/catalogue.hpp',
        to: 'cpp',
        fields: {
            delay: 'number?',
            back_off: 'number?',
            force_after: 'number?',
            fold_after: 'number?',
            threshold: 'number?',
            interval: 'number?',
        },
    },
    CounterOptions: {
        doc: 'The options of a counter of the catalogue.',
        header: 'tabacus/strategy/catalogue.hpp',
        to: 'cpp',
        fields: { strategy: 'Strategy', durability: 'Durability', times: 'StrategyTimes' },
    },
    LockCapabilities: {
        doc: 'What the locks of this context are built on, and how query() names this context.',
        to: 'js',
        fields: { exclusion: 'Exclusion', fenced: 'bool', tab: 'text' },
    },
    LockOptions: {
        doc: 'The options of a request for a lock.',
        header: 'tabacus/lock/lock.hpp',
        to: 'cpp',
        fields: {
            mode: 'LockMode',
            if_available: 'bool',
            steal: 'bool',
            timeout_ms: 'number?',
            max_hold_ms: 'number?',
            label: 'text',
            fence_optional: 'bool',
            evict_unresponsive: 'bool',
        },
    },
    LockRequestInfo: {
        doc: 'A request for a lock, of any tab.',
        header: 'tabacus/lock/lock.hpp',
        to: 'js',
        fields: { held: 'bool', mode: 'LockMode', label: 'text', since_ms: 'number', tab: 'text' },
    },
    OnceAge: {
        doc: 'Which finished runs of a single flight have an outcome that a call may use: `once.hpp` explains the fields.',
        header: 'tabacus/lock/once.hpp',
        to: 'cpp',
        fields: { ttl_ms: 'number', called_ms: 'number', memory: 'bool' },
    },
    OnceOutcome: {
        doc: 'How a run of a single flight ended. The text is the number of a value that js/host/values.js keeps.',
        header: 'tabacus/lock/once.hpp',
        to: 'both',
        fields: { succeeded: 'bool', text: 'text' },
    },
    OnceEntry: {
        doc: 'The outcome that the call uses, or, without one, the number of the held lock under which it runs.',
        to: 'js',
        fields: { outcome: 'OnceOutcome?', held: 'int' },
    },
    LeaderCallOptions: {
        doc: 'The options of a call of the leader.',
        header: 'tabacus/lock/leader.hpp',
        to: 'cpp',
        fields: { key: 'text?', timeout_ms: 'number?' },
    },
    LeaderCall: {
        doc: 'A call that the leader receives. The request is the number of a value that js/host/values.js keeps.',
        header: 'tabacus/lock/leader.hpp',
        to: 'js',
        fields: { id: 'text', request: 'text' },
    },
    LeaderAnswer: {
        doc: 'The answer of a leader. The text is the number of a value that js/host/values.js keeps.',
        header: 'tabacus/lock/leader.hpp',
        to: 'both',
        fields: { succeeded: 'bool', text: 'text' },
    },
    StoredValue: {
        doc: 'A value that an application keeps under a key. `value` is the number under which js/host/values.js keeps it.',
        cpp: 'Row',
        header: 'tabacus/common/world.hpp',
        to: 'js',
        fields: { key: 'text', value: 'text' },
    },
    FencedWrite: {
        doc: 'A write under the fence of a lock; a removal has no value.',
        to: 'cpp',
        fields: { store: 'text', key: 'text', value: 'text?' },
    },
    QueueOptions: {
        doc: 'The options of a queue, on which all tabs agree.',
        header: 'tabacus/queue/queue.hpp',
        to: 'cpp',
        fields: {
            concurrency: 'int',
            lifo: 'bool',
            attempts: 'int',
            back_off_ms: 'number',
            pause_on_failure: 'bool',
            limit: 'int64',
            durability: 'Durability',
        },
    },
    QueueValue: {
        doc: 'A payload or a result: a text, or, if it is passed by value, the number under which js/host/values.js keeps it.',
        header: 'tabacus/queue/queue.hpp',
        to: 'both',
        fields: { text: 'text', by_value: 'bool' },
    },
    JobSpec: {
        doc: 'A job to enqueue.',
        header: 'tabacus/queue/queue.hpp',
        to: 'cpp',
        fields: {
            payload: 'QueueValue',
            key: 'text',
            kind: 'text',
            priority: 'int',
            optional: 'bool',
            at_most_once: 'bool',
            delay_ms: 'number',
        },
    },
    JobReceipt: {
        doc: 'A job that was enqueued, or that the queue had under the same key (`joined`), and the number of jobs in the queue.',
        header: 'tabacus/queue/queue.hpp',
        to: 'js',
        fields: { id: 'text', joined: 'bool', count: 'int64' },
    },
    JobRange: {
        doc: 'The part of a list of jobs that is returned: the jobs after the one with the id `after`, or all if it is empty, and at most `limit` of them, unless that is 0.',
        header: 'tabacus/queue/queue.hpp',
        to: 'cpp',
        fields: { after: 'text', limit: 'int64' },
    },
    JobInfo: {
        doc: 'A job of a queue. `attempts` is the number of failed attempts.',
        header: 'tabacus/queue/queue.hpp',
        to: 'js',
        fields: {
            id: 'text',
            key: 'text',
            kind: 'text',
            payload: 'QueueValue',
            priority: 'int',
            optional: 'bool',
            at_most_once: 'bool',
            state: 'JobState',
            attempts: 'int',
            lost_workers: 'int',
            enqueued_ms: 'number',
            due_ms: 'number',
            error: 'text',
            tab: 'text',
        },
    },
    EndedJob: {
        doc: 'A job that has ended, and its result or error.',
        cpp: 'std::pair<std::string, JobOutcome>',
        header: 'tabacus/queue/queue.hpp',
        to: 'js',
        fields: {
            id: { type: 'text', cpp: 'first' },
            end: { type: 'JobEnd', cpp: 'second.kind' },
            value: { type: 'QueueValue', cpp: 'second.value' },
        },
    },
    ObservedJob: {
        doc: 'A job in any tab, as far as events report it. If the attempt is unknown, it is 0. If the job has reported no progress, the fraction is negative.',
        header: 'protocol/queue/claim_tracker.hpp',
        to: 'js',
        fields: {
            id: 'text',
            key: 'text',
            kind: 'text',
            tab: 'text',
            attempt: 'int',
            fraction: 'number',
            note: 'text',
        },
    },
    QueueState: {
        doc: 'A queue as this tab knows it. `done` and `failed` count the jobs whose end this tab has learnt of.',
        header: 'protocol/queue/claim_tracker.hpp',
        to: 'js',
        fields: {
            size: 'int64',
            running: 'list<ObservedJob>',
            done: 'int64',
            failed: 'int64',
            paused: 'bool',
        },
    },
    QueueReport: {
        doc: 'What has happened to a job, or to the whole queue if `job` has no id, and the state after it.',
        header: 'protocol/queue/claim_tracker.hpp',
        to: 'js',
        fields: {
            type: 'QueueEventKind',
            job: 'ObservedJob',
            error: 'text',
            final: 'bool',
            state: 'QueueState',
        },
    },
    QueueNotification: {
        doc: 'What a queue reports to JavaScript: the number of jobs in it; the numbers of the values in js/host/values.js that no job needs any longer; and, while reporting is on, what has happened.',
        to: 'js',
        fields: { size: 'int64', unneeded: 'list<text>', reports: 'list<QueueReport>' },
    },
    CounterValue: {
        doc: 'The committed value of a counter.',
        header: 'tabacus/replica/counter_transfer.hpp',
        to: 'js',
        fields: { counter: 'text', value: 'int64' },
    },
    TransferredRow: {
        doc: 'The committed totals of one replica of a counter.',
        header: 'tabacus/replica/counter_transfer.hpp',
        to: 'both',
        fields: { node: 'text', record: 'text' },
    },
};
