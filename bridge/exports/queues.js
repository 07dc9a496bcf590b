/** The calls of the piece `queue`. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const queues = [
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
