import { checkFunction } from '../common/check-arguments.js';
import { closedError } from '../common/errors.js';
import { Successor } from '../common/successor.js';
import { addHandler } from './queue-options.js';

/** @typedef {import('../common/errors.js').TabacusError} TabacusError */
/** @typedef {import('./open-queue.js').OpenQueue} OpenQueue */
/** @typedef {import('./job-spec.js').EnqueueOptions} EnqueueOptions */
/** @typedef {import('./handlers.js').Handler} Handler */
/** @typedef {import('./open-queue.js').Receipt} Receipt */
/** @typedef {import('./job.js').Job} Job */
/** @typedef {import('./job.js').DeadLetter} DeadLetter */
/** @typedef {import('./queue-state.js').QueueState} QueueState */
/** @typedef {import('./list-options.js').ListOptions} ListOptions */

/**
 * A queue of jobs. Any tab or Worker of the origin may enqueue jobs and handle them; at most `concurrency`
 * jobs run at a time over all of them. `tab.queue(name, options)` returns it. The WebAssembly of queues is
 * loaded by the first queue of a tab, and the calls of the queue wait for it. docs/queue.md states the
 * guarantees.
 */
export class Queue extends Successor {
    #open;

    /** Whether the tab is closed, or has failed. */
    #closed = false;

    /** @type {Set<import('./queue-options.js').Handled>} */
    #handled = new Set();

    /** Functions that end the registered handlers and listeners. @type {Set<() => void>} */
    #ends = new Set();

    /**
     * @param {{ name: string }} object
     * @param {OpenQueue} open
     * @internal
     */
    constructor(object, open) {
        super(object);
        this.name = object.name;
        this.#open = open;
    }

    /**
     * Adds a job to the queue. When the promise resolves, the job is stored, as durably as the queue's option
     * `durability` asks for, and no crash of a tab loses it.
     *
     * @param {unknown} [payload] any value that structuredClone() and IndexedDB accept
     * @param {EnqueueOptions} [options]
     * @returns {Promise<Receipt>} rejects with `invalid-argument`, with `not-cloneable` if the payload cannot
     *   be cloned, with `queue-full` if the queue's `limit` is reached, with `quota-exceeded` if the disk is
     *   full, with `closed` or `unavailable`, or with another error of the store. Nothing is enqueued then;
     *   only after `unknown-commit` the outcome is unknown
     */
    async enqueue(payload, options) {
        return this.#openQueue().enqueue(payload, options);
    }

    /**
     * Registers a handler, so that this tab runs jobs of the queue: those of the `kinds`, or of all kinds if
     * none are given.
     *
     * @overload
     * @param {Handler} handler
     * @param {{ kinds?: string[] }} [options]
     * @returns {() => void} removes the handler; a job that is running runs to its end
     * @throws {TabacusError} `invalid-argument`, also if another handler of this tab has one of the kinds;
     *   `closed`
     */
    /**
     * Registers a handler of one kind of jobs.
     *
     * @overload
     * @param {string} kind
     * @param {Handler} handler
     * @returns {() => void} removes the handler; a job that is running runs to its end
     */
    /**
     * @param {string | Handler} first
     * @param {any} [second]
     * @returns {() => void}
     */
    handle(first, second) {
        const open = this.#openQueue();
        return addHandler(
            this.#handled,
            (handler, { kinds }) => this.#until(open.handle(handler, kinds)),
            first,
            second,
        );
    }

    /**
     * Pauses the queue in all tabs: no job begins until resume() is called. Running jobs go on.
     *
     * @returns {Promise<void>} resolves when the pause is stored; rejects with `closed` or an error of the
     *   store
     */
    async pause() {
        await this.#openQueue().pause();
    }

    /**
     * Ends the pause of the queue, in all tabs.
     *
     * @returns {Promise<void>} resolves when that is stored; rejects with `closed` or an error of the store
     */
    async resume() {
        await this.#openQueue().resume();
    }

    /**
     * Removes the job of a key. If the job is running, its `signal` aborts, and its result and the jobs that
     * it enqueues are dropped.
     *
     * @param {string} key the option `key` of enqueue()
     * @returns {Promise<boolean>} false if no job has the key
     */
    async cancel(key) {
        return this.#openQueue().cancel(key);
    }

    /** Removes all jobs, but not the dead letters. @returns {Promise<number>} the number of removed jobs */
    async clear() {
        return this.#openQueue().clear();
    }

    /**
     * The number of jobs in the queue, including the running ones, as far as this tab knows without waiting.
     */
    get size() {
        return this.#open.size;
    }

    /**
     * Lists the jobs in the order in which they run: the running ones, then those that wait, then the delayed
     * ones. Without a `limit` all of them are in memory at once: read a long queue in parts, each `after` the
     * last job of the part before.
     *
     * @param {ListOptions} [options]
     * @returns {Promise<Job[]>} rejects with `invalid-argument`, also if no job has the id `after`; with `closed`
     *   or an error of the store
     */
    async jobs(options) {
        return this.#openQueue().jobs(options);
    }

    /**
     * Lists the jobs that have failed for good, the oldest first.
     *
     * @param {ListOptions} [options]
     * @returns {Promise<DeadLetter[]>} rejects as that of jobs()
     */
    async deadLetters(options) {
        return this.#openQueue().deadLetters(options);
    }

    /** Resolves when no job is queued or running in any tab. @returns {Promise<void>} */
    async onIdle() {
        await this.#openQueue().idle();
    }

    /**
     * Calls the listener with the state of the queue: as soon as the store was read, and after each change,
     * together with the event that caused it.
     *
     * @param {(state: QueueState) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {TabacusError} `invalid-argument` if `listener` is no function, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        return this.#until(this.#openQueue().subscribe(listener));
    }

    /** Returns the queue behind this object. @throws {TabacusError} `closed` */
    #openQueue() {
        if (this.#closed) throw closedError();
        return this.#open;
    }

    /** Makes a function that calls `stop` once. _close() calls it, too. @param {() => void} stop */
    #until(stop) {
        const end = () => {
            if (this.#ends.delete(end)) stop();
        };
        this.#ends.add(end);
        return end;
    }

    /** @override @internal */
    _end() {
        this.#closed = true;
    }

    /** Ends all handlers and listeners. Called by the tab when it closes. @internal */
    _close() {
        for (const end of [...this.#ends]) end();
    }
}
