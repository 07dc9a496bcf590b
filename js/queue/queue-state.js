/** What users see of a queue: its state, and what has just happened. */

import { errorFrom } from './payloads.js';

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
            const known = attempt > 0; // its kind, too
            const news = { fraction, note: note || undefined };
            return { ...about, kind: known ? kind : undefined, ...news };
        }
        case 'failed':
            return { ...about, error: errorFrom(error), final };
        default:
            return about;
    }
}
