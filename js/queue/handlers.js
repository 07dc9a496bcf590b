/**
 * The argument of a handler: a job and the calls that it may make.
 *
 * @typedef {object} Work
 * @property {any} payload
 * @property {string} id the same at every attempt
 * @property {string | undefined} key
 * @property {string} kind
 * @property {number} attempt from 1
 * @property {number} lostWorkers how many tabs were lost while they had claimed the job, not counting those
 *   that exited cleanly
 * @property {AbortSignal} signal aborts when the claim on the job is lost: its tab is frozen, is left, or
 *   loses the lock of its slot, or the job was cancelled. The result of the handler is then ignored
 * @property {(fraction: number, note?: string) => void} progress notifies all tabs of the progress of the
 *   job, from 0 to 1
 * @property {(payload?: unknown, options?: import('./job-spec.js').EnqueueOptions) => void} next enqueues a
 *   job that follows this one. It is enqueued in the transaction that settles this job, or not at all
 */

/** @typedef {(work: Work) => unknown} Handler its result, or what it throws, goes to the caller that enqueued the job */

/** The handlers of a queue in this tab. Each kind of jobs has at most one of them. */
export class Handlers {
    #changed;

    /** @type {{ kinds: string[] | undefined, handler: Handler }[]} */
    #handlers = [];

    /** @param {() => void} changed called when a handler was added or has ended */
    constructor(changed) {
        this.#changed = changed;
    }

    /**
     * Adds a handler.
     *
     * @param {Handler} handler
     * @param {string[] | undefined} kinds undefined for all kinds
     * @returns {() => void} removes the handler
     */
    add(handler, kinds) {
        const own = { kinds, handler };
        this.#handlers.push(own);
        this.#changed();
        return () => {
            const index = this.#handlers.indexOf(own);
            if (index < 0) return;
            this.#handlers.splice(index, 1);
            this.#changed();
        };
    }

    /** Returns the handler of a kind of jobs. @param {string} kind */
    of(kind) {
        return this.#handlers.find(({ kinds }) => !kinds || kinds.includes(kind))?.handler;
    }

    /** The kinds that are handled; undefined if all are. */
    get kinds() {
        const all = this.#handlers.some(({ kinds }) => !kinds);
        return all ? undefined : this.#handlers.flatMap(({ kinds }) => kinds ?? []);
    }

    clear() {
        this.#handlers = [];
    }
}
