/**
 * The public descriptions of jobs and of a queue's state, and how they are made from the records of the core.
 */

import { errorFrom } from './payloads.js';

/**
 * A job of a queue.
 *
 * @typedef {object} Job
 * @property {string} id identifies the job
 * @property {string | undefined} key the option `key` of enqueue()
 * @property {string} kind the option `kind` of enqueue(), or an empty string
 * @property {any} payload
 * @property {number} priority the option `priority` of enqueue()
 * @property {boolean} optional the option `optional` of enqueue()
 * @property {'at-least-once' | 'at-most-once'} delivery
 * @property {'queued' | 'delayed' | 'running' | 'dead'} state
 * @property {number} attempt the number, from 1, of the attempt that runs or comes next. For a dead letter:
 *   the number of attempts that were made
 * @property {number} lostWorkers how many tabs died or hung while they had claimed the job. Tabs that exited
 *   cleanly do not count
 * @property {number} enqueued when it was enqueued: milliseconds since the Unix epoch, as `due`
 * @property {number | undefined} due for a delayed job: when it may run. For a dead letter: when it became
 *   one
 * @property {unknown} error the error of the last attempt that failed
 * @property {string | undefined} tab for a running job: identifies the context that runs it
 */

/**
 * A job that has failed for good. `retry()` enqueues it again, `discard()` removes it; each resolves with
 * false if the queue does not have the dead letter any more.
 *
 * @typedef {Job & { retry: () => Promise<boolean>, discard: () => Promise<boolean> }} DeadLetter
 */

/**
 * A job that runs in some tab.
 *
 * @typedef {object} RunningJob
 * @property {string} id
 * @property {string | undefined} key
 * @property {string} kind
 * @property {string} tab identifies the context that runs it
 * @property {number} attempt the number of the attempt, from 1
 * @property {number | undefined} fraction the fraction of its last progress report, from 0 to 1
 * @property {string | undefined} note the note of its last progress report
 */

/**
 * The state of a queue, and the event that led to it. If the event concerns one job, `id`, `key` and `kind`
 * identify the job.
 *
 * @typedef {object} QueueState
 * @property {'state' | 'queued' | 'running' | 'progress' | 'done' | 'failed' | 'returned' | 'cancelled' | 'paused'
 *   | 'resumed' | 'changed'} type the event; `state` in the first call of a listener
 * @property {number} size the number of jobs in the queue
 * @property {number} queued how many of them are not running
 * @property {RunningJob[]} running
 * @property {number} done how many jobs were done since this tab listens to the queue
 * @property {number} failed how many attempts have failed since then
 * @property {boolean} paused
 * @property {string} [id]
 * @property {string} [key]
 * @property {string} [kind]
 * @property {string} [tab] identifies the context that caused the event
 * @property {number} [attempt]
 * @property {number} [fraction]
 * @property {string} [note]
 * @property {unknown} [error]
 * @property {boolean} [final] for `failed`: whether the job is not tried again
 */

/**
 * Makes the public description of a job from the core's record. The payload is left out.
 *
 * @param {import('../core/generated/queues.js').JobInfo} info
 * @returns {Job}
 */
export const jobFrom = ({ id, key, kind, priority, optional, state, lostWorkers, ...rest }) => ({
    id,
    key: key || undefined,
    kind,
    payload: undefined,
    priority,
    optional,
    delivery: rest.atMostOnce ? 'at-most-once' : 'at-least-once',
    state,
    attempt: rest.attempts + (state === 'dead' ? 0 : 1),
    lostWorkers,
    enqueued: rest.enqueued_ms,
    due: rest.due_ms || undefined,
    error: rest.error ? errorFrom(rest.error) : undefined,
    tab: rest.tab || undefined,
});
