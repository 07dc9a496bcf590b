/** What users see of a job, made of what the core returns. */

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
