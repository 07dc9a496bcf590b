/** What users see of jobs and of a queue's state, made of what the core returns. */

import { errorFrom } from './payloads.js';

/**
 * @typedef {object} Job
 * @property {string} id
 * @property {string | undefined} key
 * @property {string} kind
 * @property {any} payload
 * @property {number} priority
 * @property {boolean} optional
 * @property {'at-least-once' | 'at-most-once'} delivery
 * @property {'queued' | 'delayed' | 'running' | 'dead'} state
 * @property {number} attempt the attempt that runs or comes next, from 1; of a dead letter, how many there were
 * @property {number} lostWorkers how many tabs were lost that had claimed it, but for those that exited cleanly
 * @property {number} enqueued milliseconds since the Unix epoch
 * @property {number | undefined} due of a delayed job: when it may run; of a dead letter: since when it is one
 * @property {unknown} error of the last attempt that failed
 * @property {string | undefined} tab of a running job: names the context that runs it
 */

/**
 * A job that was given up.
 *
 * @typedef {Job & { retry: () => Promise<boolean>, discard: () => Promise<boolean> }} DeadLetter
 */

/**
 * @typedef {object} RunningJob
 * @property {string} id
 * @property {string | undefined} key
 * @property {string} kind
 * @property {string} tab where
 * @property {number} attempt
 * @property {number | undefined} fraction of its last progress, from 0 to 1
 * @property {string | undefined} note
 */

/**
 * The state of the queue, and what has just happened: to the job `id`, where it happened to one.
 *
 * @typedef {object} QueueState
 * @property {'state' | 'queued' | 'running' | 'progress' | 'done' | 'failed' | 'returned' | 'cancelled' | 'paused'
 *   | 'resumed' | 'changed'} type
 * @property {number} size jobs in the queue
 * @property {number} queued of them, those that do not run
 * @property {RunningJob[]} running
 * @property {number} done jobs done since this tab receives events
 * @property {number} failed attempts that failed since then
 * @property {boolean} paused
 * @property {string} [id]
 * @property {string} [key]
 * @property {string} [kind]
 * @property {string} [tab] whose doing it was
 * @property {number} [attempt]
 * @property {number} [fraction]
 * @property {string} [note]
 * @property {unknown} [error]
 * @property {boolean} [final] of `failed`: it is not tried again
 */

/**
 * A job as the program describes it, without its payload.
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
