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
