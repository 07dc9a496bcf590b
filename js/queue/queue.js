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

/**
 * Jobs that any tab or worker of the origin enqueues, and that `concurrency` at a time run over all of
 * them. What does it is loaded by the first queue of a tab, and waited for by what is asked of it.
 */
export class Queue extends Successor {
    #open;

    /** Whether the tab is closed, or has failed. */
    #closed = false;

    /** @type {Set<import('./queue-options.js').Handled>} */
    #handled = new Set();

    /** What ends the handlers and listeners that are there. @type {Set<() => void>} */
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
     * Takes a job in. It is kept, in every case, when the promise is resolved.
     *
     * @param {unknown} [payload] anything that structuredClone() takes
     * @param {EnqueueOptions} [options]
     * @returns {Promise<Receipt>} rejects with `invalid-argument`; `not-cloneable` of the payload; `queue-full`
     *   (the queue's limit); `quota-exceeded` (a full disk), or another error of the store: nothing was
     *   enqueued, except that with `unknown-commit` the outcome is unknown
     */
    async enqueue(payload, options) {
        return this.#openQueue().enqueue(payload, options);
    }

    /**
     * Takes part in the work on jobs of one kind, of several (`kinds`), or of all.
     *
     * @overload
     * @param {Handler} handler
     * @param {{ kinds?: string[] }} [options]
     * @returns {() => void} ends it; what runs runs on
     * @throws {TabacusError} `invalid-argument`, also of a kind that another handler of this tab has; `closed`
     */
    /**
     * @overload
     * @param {string} kind
     * @param {Handler} handler
     * @returns {() => void}
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

    /** Keeps further jobs from beginning, in any tab, until resume(); those that run go on. @returns {Promise<void>} */
    async pause() {
        await this.#openQueue().pause();
    }

    /** @returns {Promise<void>} */
    async resume() {
        await this.#openQueue().resume();
    }

    /**
     * Removes the job of that key. If it runs, its `signal` aborts and nothing of what it does is kept.
     *
     * @param {string} key
     * @returns {Promise<boolean>} false: there is none
     */
    async cancel(key) {
        return this.#openQueue().cancel(key);
    }

    /** Removes all jobs, but dead letters. @returns {Promise<number>} how many */
    async clear() {
        return this.#openQueue().clear();
    }

    /** Jobs in the queue, running ones among them, as this tab last learnt. */
    get size() {
        return this.#open.size;
    }

    /** The jobs in the order in which they will run: running, then waiting, then delayed ones. @returns {Promise<Job[]>} */
    async jobs() {
        return this.#openQueue().jobs();
    }

    /** The jobs that failed for good, oldest first. @returns {Promise<DeadLetter[]>} */
    async deadLetters() {
        return this.#openQueue().deadLetters();
    }

    /** Waits until nothing is queued or running in any tab. @returns {Promise<void>} */
    async onIdle() {
        await this.#openQueue().idle();
    }

    /**
     * Calls the listener with the state at once, and with each change with what happened.
     *
     * @param {(state: QueueState) => void} listener
     * @returns {() => void} ends it
     * @throws {TabacusError} `invalid-argument`, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        return this.#until(this.#openQueue().subscribe(listener));
    }

    /** @throws {TabacusError} `closed` */
    #openQueue() {
        if (this.#closed) throw closedError();
        return this.#open;
    }

    /** @param {() => void} stop */
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

    /** For the tab: its handlers and listeners are there no more. @internal */
    _close() {
        for (const end of [...this.#ends]) end();
    }
}
