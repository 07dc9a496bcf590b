/** The calls of the piece `leader`: semaphores, single flights and leaders. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const leader = [
    {
        name: 'semaphore_acquire',
        doc: 'Acquires one permit. Answers a list with the number of the held lock, or an empty list if the request is `ifAvailable` and no permit is free.',
        target: 'coordination.locks().acquire_permit',
        params: { name: 'text', permits: 'int', options: 'LockOptions', within: 'int', request: 'int' },
        answers: 'list<int>',
    },
    {
        name: 'once_enter',
        doc: 'Enters a single flight. Answers the outcome of a run, or the number of the held lock under which the caller runs.',
        target: 'coordination.locks().enter',
        params: { key: 'text', options: 'LockOptions', age: 'OnceAge', request: 'int' },
        answers: 'OnceEntry',
    },
    {
        name: 'once_settle',
        doc: 'Keeps the outcome of a run, and releases its lock.',
        target: 'coordination.locks().settle_once',
        params: { key: 'text', held: 'int', outcome: 'OnceOutcome', age: 'OnceAge' },
        answers: 'nothing',
    },
    {
        name: 'once_forget',
        doc: 'Removes the outcome that is kept for the key, and ends a run in progress.',
        target: 'coordination.locks().forget_once',
        params: { key: 'text' },
        answers: 'nothing',
    },
    {
        name: 'leader_call',
        doc: 'Calls the leader. `call` is the number of the request in js/host/values.js; `request` is the number by which lock_abort() aborts it.',
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
