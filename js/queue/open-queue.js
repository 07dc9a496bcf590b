import { closedError } from '../common/errors.js';
import { within } from '../common/wait-end.js';
import {
    queueCancel,
    queueClear,
    queueDiscard,
    queueEnqueue,
    queueHandle,
    queueHandleAll,
    queueIdle,
    queueLeave,
    queueList,
    queueOpen,
    queuePause,
    queueResume,
    queueRetry,
    queueState,
    queueStop,
    queueSetReporting,
} from '../core/generated/queues.js';
import { Ending, outcomeOf } from './ending.js';
import { Handlers } from './handlers.js';
import { checkJobKey, jobSpec } from './job-spec.js';
import { jobFrom } from './job.js';
import { unpacked } from './payloads.js';
import { QueueListeners } from './queue-listeners.js';
import { checkRange } from './list-options.js';
import { reportFrom, stateFrom } from './queue-state.js';
import { Runs } from './runs.js';

/** @typedef {import('./job.js').Job} Job */

/**
 * @typedef {object} Receipt
 * @property {string} id
 * @property {string | undefined} key
 * @property {boolean} joined whether the job was in the queue already, under its key
 * @property {Promise<any>} result resolves with what the handler returned, in whichever tab it ran. Rejects
 *   with the error of the last attempt when the job has failed for good, and with an AbortError when it was
 *   cancelled. A rejection of a promise that is not used is not reported
 */

/** The options of enqueue() that end its wait. */
const waits = /** @type {never[]} */ (['signal', 'timeout']);

/** A queue of an engine, once its piece of the program is loaded. All handles of the engine share it. */
export class OpenQueue {
    #bridge;
    #queue;
    #handlers;
    #runs;
    #listeners;

    /** The number of jobs in the queue, as far as this tab knows. */
    size = 0;

    /** The outcomes of the jobs that this tab has enqueued, by the ids of the jobs. @type {Map<string, Ending>} */
    #waiting = new Map();

    /** The calls that write and are not settled. @type {Set<Promise<unknown>>} */
    #writes = new Set();
    #ended = false;

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {import('../host/host.js').Platform} platform
     * @param {string} name
     * @param {import('../core/generated/queues.js').QueueOptions & { delivery: 'at-least-once' | 'at-most-once' }} options
     */
    constructor(bridge, platform, name, options) {
        this.#bridge = bridge;
        bridge.admit(`queue/${name}`);
        const number = queueOpen(bridge, name, options);
        this.#queue = { name, number, delivery: options.delivery };
        this.#handlers = new Handlers(() => this.#takePart());
        this.#runs = new Runs(bridge, this.#queue, this.#handlers);
        this.#listeners = new QueueListeners(platform, (listened) => {
            if (!this.#ended) queueSetReporting(bridge, number, listened);
        });
        bridge.listeners.queues.set(number, {
            begin: (run, job) => this.#runs.begin(run, job),
            lose: (run, reason) => this.#runs.lose(run, reason),
            settle: (jobs) => this.#settled(jobs),
            receive: (notification) => this.#receive(notification),
        });
        void this.#state(false).catch(() => {}); // the next event reports it
    }

    /**
     * Reads the state again, because the page comes back from the back/forward cache, where it received no
     * events.
     * @internal
     */
    _returned() {
        this.#state(true).then(
            (state) => this.#listeners.emit(state),
            () => {}, // the tab was closed
        );
    }

    /**
     * @param {unknown} payload
     * @param {unknown} given
     * @returns {Promise<Receipt>}
     */
    async enqueue(payload, given = {}) {
        const { signal, timeout } = Object(given);
        const ends = signal || timeout !== undefined ? { signal, timeout } : undefined;
        return within(this.#bridge.host.clock, ends, () => this.#enqueue(payload, given));
    }

    /** @param {unknown} payload @param {unknown} given @returns {Promise<Receipt>} */
    async #enqueue(payload, given) {
        const { values } = this.#bridge.host;
        const job = jobSpec(payload, given, this.#queue.delivery, values, waits);
        try {
            const { id, joined } = await this.#write(() =>
                queueEnqueue(this.#bridge, this.#queue.number, job),
            );
            const ending = this.#ending(id);
            return {
                id,
                key: job.key || undefined,
                joined,
                get result() {
                    return ending.promise;
                },
            };
        } finally {
            if (job.payload.byValue) values.take(job.payload.text);
        }
    }

    /**
     * @param {import('./handlers.js').Handler} handler
     * @param {string[] | undefined} kinds that no other handler has; undefined: all
     */
    handle(handler, kinds) {
        return this.#handlers.add(handler, kinds);
    }

    /** @param {string} key */
    async cancel(key) {
        return this.#write(() => queueCancel(this.#bridge, this.#queue.number, checkJobKey(key)));
    }

    pause() {
        return this.#write(() => queuePause(this.#bridge, this.#queue.number));
    }

    resume() {
        return this.#write(() => queueResume(this.#bridge, this.#queue.number));
    }

    clear() {
        return this.#write(() => queueClear(this.#bridge, this.#queue.number));
    }

    idle() {
        return queueIdle(this.#bridge, this.#queue.number);
    }

    /** @param {import('./list-options.js').ListOptions} [options] @returns {Promise<Job[]>} */
    async jobs(options) {
        return this.#list('jobs', options);
    }

    /**
     * @param {import('./list-options.js').ListOptions} [options]
     * @returns {Promise<import('./job.js').DeadLetter[]>}
     */
    async deadLetters(options) {
        const { number } = this.#queue;
        return (await this.#list('deadLetters', options)).map((job) => ({
            ...job,
            retry: () => this.#write(() => queueRetry(this.#bridge, number, job.id)),
            discard: () => this.#write(() => queueDiscard(this.#bridge, number, job.id)),
        }));
    }

    /** @param {(state: import('./queue-state.js').QueueState) => void} listener */
    subscribe(listener) {
        return this.#listeners.add(listener, () => this.#state(false));
    }

    /**
     * Begins no more jobs, and gives up the claims on running ones.
     *
     * @returns {Promise<unknown>} resolves when earlier calls are done, jobs that had ended are settled, and
     *   all other claimed jobs are given back
     * @internal
     */
    _end() {
        this.#ended = true;
        return Promise.allSettled([...this.#writes, queueLeave(this.#bridge, this.#queue.number)]);
    }

    /**
     * Ends the queue in this tab. The core is not called from here on.
     *
     * @param {import('../common/errors.js').TabacusError} error rejects the results of jobs that are awaited
     * @internal
     */
    _close(error) {
        this.#ended = true;
        this.#handlers.clear();
        this.#listeners.clear();
        this.#runs.close(error);
        for (const ending of this.#waiting.values()) ending.settle({ failure: error });
        this.#waiting.clear();
    }

    /**
     * @template T
     * @param {() => Promise<T>} start
     * @returns {Promise<T>}
     */
    async #write(start) {
        if (this.#ended) throw closedError();
        const write = start();
        this.#writes.add(write);
        try {
            return await write;
        } finally {
            this.#writes.delete(write);
        }
    }

    /** @param {string} id */
    #ending(id) {
        const ending = this.#waiting.get(id) ?? new Ending();
        this.#waiting.set(id, ending);
        return ending;
    }

    #takePart() {
        const { number } = this.#queue;
        const { kinds } = this.#handlers;
        if (!kinds) return queueHandleAll(this.#bridge, number);
        if (kinds.length === 0) return queueStop(this.#bridge, number);
        return queueHandle(this.#bridge, number, kinds);
    }

    /**
     * @param {import('../core/generated/enums/job-list.js').JobListName} which
     * @param {import('./list-options.js').ListOptions} [options]
     * @returns {Promise<Job[]>}
     */
    async #list(which, options) {
        const { values } = this.#bridge.host;
        const range = checkRange(options);
        return (await queueList(this.#bridge, this.#queue.number, which, range)).map((info) => {
            const job = jobFrom(info);
            try {
                job.payload = unpacked(info.payload, values);
            } catch {
                // Another script wrote the payload. A worker that runs the job fails.
            }
            return job;
        });
    }

    /**
     * Reads the state of the queue.
     *
     * @param {boolean} returned whether events may have been lost: a job that ran before and does not run any
     *   more has ended
     */
    async #state(returned) {
        return stateFrom(await queueState(this.#bridge, this.#queue.number, returned));
    }

    /** @param {import('../core/generated/coordination-calls.js').EndedJob[]} jobs */
    #settled(jobs) {
        for (const { id, end, value } of jobs) {
            const ending = this.#waiting.get(id);
            this.#waiting.delete(id);
            ending?.settle(outcomeOf(end, value, this.#bridge.host.values));
        }
    }

    /** @param {import('../core/generated/coordination-calls.js').QueueNotification} notification */
    #receive({ size, unneeded, reports }) {
        this.size = size;
        for (const number of unneeded) this.#bridge.host.values.take(number);
        for (const report of reports) this.#listeners.emit(reportFrom(report));
    }
}
