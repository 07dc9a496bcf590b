import { invalid, TabacusError } from '../common/errors.js';
import { queueFinish, queueProgress } from '../core/generated/queues.js';
import { jobSpec } from './job-spec.js';
import { Loss } from './loss.js';
import { errorText, packed, unpacked } from './payloads.js';

/** A job as the core gives it. @typedef {import('../core/generated/coordination-calls.js').JobInfo} JobInfo */
/** @typedef {import('./job-spec.js').Spec} Spec */
/**
 * The jobs that a handler has passed to next(), and whether the handler has ended.
 *
 * @typedef {{ following: Spec[], ended: boolean }} Asked
 */

/** The jobs that run in this tab, each by the number of its run. */
export class Runs {
    #bridge;
    #queue;
    #handlers;

    /** @type {Map<number, Loss>} */
    #runs = new Map();

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {{ name: string, number: number, delivery: 'at-least-once' | 'at-most-once' }} queue
     * @param {import('./handlers.js').Handlers} handlers
     */
    constructor(bridge, queue, handlers) {
        this.#bridge = bridge;
        this.#queue = queue;
        this.#handlers = handlers;
    }

    /**
     * Runs a job. Its handler is not called from within the core, because it may call the core.
     *
     * @param {number} run
     * @param {JobInfo} job
     */
    begin(run, job) {
        const loss = new Loss();
        this.#runs.set(run, loss);
        void Promise.resolve().then(() => this.#work(run, job, loss));
    }

    /**
     * Ends a run, because the claim on its job is lost.
     *
     * @param {number} run
     * @param {string} reason
     */
    lose(run, reason) {
        const loss = this.#runs.get(run);
        if (reason !== 'cancelled') this.#runs.delete(run); // a cancelled run is deleted when it ends
        const why =
            reason === 'cancelled'
                ? new DOMException('the job was cancelled', 'AbortError')
                : new TabacusError(
                      'lock-lost',
                      `the claim on a job of ${this.#queue.name} was lost: ${reason}`,
                  );
        // The loss is not reported from within the core, because a listener may call the core.
        void Promise.resolve().then(() => loss?.set(why));
    }

    /** Loses all runs, which report nothing to the core from here on. @param {TabacusError} error */
    close(error) {
        for (const loss of this.#runs.values()) loss.set(error);
        this.#runs.clear();
    }

    /**
     * @param {number} run
     * @param {JobInfo} job
     * @param {Loss} loss
     */
    async #work(run, job, loss) {
        /** @type {Asked} */
        const asked = { following: [], ended: false };
        /** @type {import('./payloads.js').QueueValue} */
        let outcome;
        let succeeded = true;
        try {
            outcome = packed('result', await this.#handle(run, job, loss, asked), this.#bridge.host.values);
        } catch (error) {
            succeeded = false;
            outcome = { text: errorText(error), byValue: false };
        }
        asked.ended = true;
        if (!this.#runs.delete(run)) return;
        queueFinish(this.#bridge, this.#queue.number, run, job.id, succeeded, outcome, asked.following);
    }

    /**
     * Calls the handler of the job's kind.
     *
     * @param {number} run
     * @param {JobInfo} job
     * @param {Loss} loss
     * @param {Asked} asked collects the jobs that the handler passes to next()
     * @returns {Promise<unknown>} what the handler returns
     */
    async #handle(run, { id, key, kind, attempts, lostWorkers, payload: given }, loss, asked) {
        const { values } = this.#bridge.host;
        const payload = unpacked(given, values); // throws if another script has spoilt it
        if (loss.reason) throw loss.reason;
        const handler = this.#handlers.of(kind);
        if (!handler) throw new TabacusError('unavailable', 'the handler was removed');
        const progress = (/** @type {number} */ fraction, note = '') => this.#progress(run, fraction, note);
        const next = (/** @type {unknown} */ what, /** @type {unknown} */ options) => {
            if (asked.ended)
                throw new TabacusError('closed', 'the job has ended: await what calls next(), or enqueue()');
            asked.following.push(jobSpec(what, options, this.#queue.delivery, values));
        };
        return handler({
            ...{ payload, id, key: key || undefined, kind, lostWorkers, progress, next },
            attempt: attempts + 1,
            get signal() {
                return loss.signal;
            },
        });
    }

    /**
     * @param {number} run
     * @param {number} fraction
     * @param {string} note
     */
    #progress(run, fraction, note) {
        if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
            throw invalid('fraction', fraction, 'a number from 0 to 1');
        }
        // U+0000 ends a text in tabs of version 0.1.0.
        const text = String(note).replaceAll('\0', '');
        if (this.#runs.has(run)) queueProgress(this.#bridge, this.#queue.number, run, fraction, text);
    }
}
