/** The calls of the piece `leader`: semaphores, single flights and leaders. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const leader = [
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
        params: { key: 'text', held: 'int', outcome: 'OnceOutcome', age: 'OnceAge' },
        answers: 'nothing',
    },
    {
        name: 'once_forget',
        doc: 'Removes what single flights of the key keep, and ends a run in progress.',
        target: 'coordination.locks().forget_once',
        params: { key: 'text' },
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
