/** The state of a queue as its listeners get it, with the event that led to it. */

import { errorFrom } from './payloads.js';

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
 * @param {import('../core/generated/queues.js').QueueState} state
 * @returns {QueueState}
 */
export function stateFrom({ size, running, ...others }) {
    const jobs = running.map(({ key, note, ...job }) => ({
        ...job,
        key: key || undefined,
        fraction: job.fraction < 0 ? undefined : job.fraction,
        note: note || undefined,
    }));
    return { ...others, type: 'state', size, queued: Math.max(size - jobs.length, 0), running: jobs };
}

/**
 * @param {import('../core/generated/coordination-calls.js').QueueReport} report
 * @returns {QueueState}
 */
export function reportFrom({ type, job, error, final, state }) {
    const { id, key, kind, tab, attempt, fraction, note } = job;
    const all = { ...stateFrom(state), type, tab };
    if (id === '') return all;
    const about = { ...all, id, key: key || undefined, kind };
    switch (type) {
        case 'running':
            return { ...about, attempt };
        case 'progress': {
            const known = attempt > 0; // then the kind is known, too
            const news = { fraction, note: note || undefined };
            return { ...about, kind: known ? kind : undefined, ...news };
        }
        case 'failed':
            return { ...about, error: errorFrom(error), final };
        default:
            return about;
    }
}
