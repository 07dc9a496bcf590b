/** Jobs of a queue, and the handlers that run them. */

import { pause } from './holds.js';

/** @typedef {import('./operations.js').Context} Context */

/** The longest wait of enqueue(). */
export const ENQUEUE_TIMEOUT_MS = 8000;

/** How long a handler takes at most. */
const RUN_MOST_MS = 25;

/** The number of different keys. */
const KEYS = 3;

/** The options of the queue, the same in all tabs. A failed attempt is repeated soon. */
const OPTIONS = /** @type {const} */ ({ concurrency: 3, attempts: 3, backOff: 50 });

/** @param {import('tabacus').Tab} tab */
export const queueOf = (tab) => tab.queue('queue', OPTIONS);

/** The results of jobs that have not arrived. @type {Set<Promise<unknown>>} */
const results = new Set();

/** The number of results that this page still waits for. */
export const openResults = () => results.size;

/**
 * Handles the jobs of the queue. A job is followed by one of the kind `mark`, which is enqueued in the transaction that
 * settles the first one: so the number of marks of a job is the number of times that it was settled.
 *
 * @param {Pick<Context, 'tab' | 'random' | 'write'>} context
 */
export function handleJobs({ tab, random, write }) {
    queueOf(tab).handle('work', async ({ id, attempt, payload, next }) => {
        await write({ type: 'run', job: id, attempt, once: payload.once });
        await pause(random(RUN_MOST_MS));
        if (attempt <= payload.failures) throw new Error('this attempt was ordered to fail');
        next({ of: id }, { kind: 'mark' });
        return id;
    });
    queueOf(tab).handle('mark', ({ id, payload }) => write({ type: 'mark', job: payload.of, mark: id }));
}

/**
 * Enqueues a job, and writes its outcome when that arrives.
 *
 * @param {Context} context
 * @param {import('tabacus').EnqueueOptions} options
 */
async function enqueue({ tab, op, random, write, lacks }, options) {
    const once = options.delivery === 'at-most-once';
    const failures = random(8) === 0 ? 1 + random(4) : 0;
    const waits = lacks.includes('enqueue.timeout') ? {} : { timeout: ENQUEUE_TIMEOUT_MS };
    const receipt = await queueOf(tab).enqueue(
        { by: op, failures, once },
        { kind: 'work', ...waits, ...options },
    );
    const { id: job, joined } = receipt;
    const arrived = receipt.result.then(
        (value) => write({ type: 'result', job, ok: value === job }),
        (error) => write({ type: 'result', job, ok: false, code: error.code ?? error.name }),
    );
    const result = arrived.catch(() => {}).finally(() => results.delete(result));
    results.add(result);
    return { job, joined, once };
}

export const jobs = {
    /** @param {Context} context */
    enqueue: (context) => {
        const { random } = context;
        const delay = random(6) === 0 ? { delay: random(500) } : {};
        return enqueue(context, { priority: random(3), ...delay });
    },
    /** @param {Context} context */
    enqueueKeyed: (context) => enqueue(context, { key: `key-${context.random(KEYS)}` }),
    /** @param {Context} context */
    enqueueOnce: (context) => enqueue(context, { delivery: 'at-most-once' }),
};
