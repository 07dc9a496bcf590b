import { invalid } from '../common/errors.js';
import { asPassed, checkFunction } from '../common/check-arguments.js';
import { checkKinds } from './queue-options.js';

/** @typedef {import('../common/errors.js').TabacusError} TabacusError */
/** @typedef {import('./open-queue.js').OpenQueue} OpenQueue */
/** @typedef {import('./open-queue.js').EnqueueOptions} EnqueueOptions */
/** @typedef {import('./open-queue.js').Handler} Handler */
/** @typedef {import('./open-queue.js').Receipt} Receipt */
/** @typedef {import('./job.js').Job} Job */
/** @typedef {import('./job.js').DeadLetter} DeadLetter */
/** @typedef {import('./job.js').QueueState} QueueState */

/**
 * Jobs that any tab or worker of the origin enqueues, and that `concurrency` at a time run over all of
 * them. What does it is loaded by the first queue of a tab, and waited for by what is asked of it.
 */
export class Queue {
    #load;
    #later;
    #assertOpen;

    /** @type {OpenQueue | undefined} */
    #open;
    /** @type {Promise<OpenQueue> | undefined} */
    #opening;

    /** Of each handler; undefined: all. @type {Set<{ kinds: string[] | undefined }>} */
    #handled = new Set();

    /** What ends the handlers and listeners that are there. @type {Set<() => void>} */
    #ends = new Set();

    /**
     * @param {string} name
     * @param {() => Promise<OpenQueue>} load
     * @param {import('../common/lazy.js').Later} later what becomes of handlers and listeners if it fails
     * @param {() => void} assertOpen throws when the tab is closed
     * @internal
     */
    constructor(name, load, later, assertOpen) {
        this.name = name;
        this.#load = load;
        this.#later = later;
        this.#assertOpen = assertOpen;
        this.#ask(() => {}).catch(() => {}); // reported by the call that uses it
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
        this.#assertOpen();
        if (this.#open) return this.#open.enqueue(payload, options);
        const [kept] = copied([payload]);
        const asked = asPassed(options);
        return this.#ask((queue) => queue.enqueue(kept, asked));
    }

    /**
     * Takes part in the work. Of one kind, of several (`kinds`), or of all.
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
    handle(first, second = {}) {
        const [handler, options] = typeof first === 'string' ? [second, { kinds: [first] }] : [first, second];
        checkFunction('handler', handler);
        const own = { kinds: checkKinds(options) };
        this.#assertOpen();
        for (const { kinds } of this.#handled) {
            if (!overlap(own.kinds, kinds)) continue;
            throw invalid('kinds', own.kinds ?? 'all', 'kinds that no other handler of this tab has');
        }
        const end = this.#until((queue) => queue.handle(handler, own.kinds));
        this.#handled.add(own);
        return () => {
            this.#handled.delete(own);
            end();
        };
    }

    /** No further job begins, in any tab, until resume(); those that run go on. @returns {Promise<void>} */
    async pause() {
        await this.#ask((queue) => queue.pause());
    }

    /** @returns {Promise<void>} */
    async resume() {
        await this.#ask((queue) => queue.resume());
    }

    /**
     * Removes the job of that key. If it runs, its `signal` aborts and nothing of what it does is kept.
     *
     * @param {string} key
     * @returns {Promise<boolean>} false: there is none
     */
    cancel(key) {
        return this.#ask((queue) => queue.cancel(key));
    }

    /** Removes all jobs, but dead letters. @returns {Promise<number>} how many */
    clear() {
        return this.#ask((queue) => queue.clear());
    }

    /** Jobs in the queue, running ones among them, as this tab last learnt. */
    get size() {
        return this.#open?.size ?? 0;
    }

    /** In the order in which they will run: running ones, then those that wait, then delayed ones. @returns {Promise<Job[]>} */
    jobs() {
        return this.#ask((queue) => queue.jobs());
    }

    /** Those that failed for good, oldest first. @returns {Promise<DeadLetter[]>} */
    deadLetters() {
        return this.#ask((queue) => queue.deadLetters());
    }

    /** When nothing is queued or running in any tab. @returns {Promise<void>} */
    async onIdle() {
        await this.#ask((queue) => queue.idle());
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
        return this.#until((queue) => queue.subscribe(listener));
    }

    /**
     * @template T
     * @param {(queue: OpenQueue) => T | Promise<T>} use
     * @returns {Promise<T>}
     */
    async #ask(use) {
        this.#assertOpen();
        this.#opening ??= this.#load().catch((error) => {
            this.#opening = undefined;
            throw error;
        });
        this.#open = await this.#opening;
        return use(this.#open);
    }

    /** When all that was asked of it has been passed on, in their order. @internal */
    async _asked() {
        await this.#opening?.catch(() => {}); // reported by the call that uses it
    }

    /** @param {(queue: OpenQueue) => () => void} begin */
    #until(begin) {
        this.#assertOpen();
        let stop = () => {};
        const end = () => {
            if (this.#ends.delete(end)) stop();
        };
        this.#ends.add(end);
        const start = (/** @type {OpenQueue} */ queue) => {
            if (this.#ends.has(end)) stop = begin(queue);
        };
        const ask = () =>
            void this.#ask(start).catch((error) => {
                const withdraw = this.#later(error, ask);
                if (this.#ends.has(end)) stop = withdraw;
                else withdraw();
            });
        if (this.#open) start(this.#open);
        else ask();
        return end;
    }

    /** For the tab: its handlers and listeners are there no more. @internal */
    _close() {
        for (const end of [...this.#ends]) end();
    }
}

/**
 * @param {string[] | undefined} some undefined: all
 * @param {string[] | undefined} others
 */
const overlap = (some, others) => !some || !others || some.some((kind) => others.includes(kind));

/**
 * A copy as the values are now. A value that cannot be cloned is returned as it is: enqueue() refuses it.
 *
 * @param {unknown[]} values
 */
function copied(values) {
    try {
        return structuredClone(values);
    } catch {
        return values;
    }
}
