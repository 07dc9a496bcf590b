/**
 * What a handler is given.
 *
 * @typedef {object} Work
 * @property {any} payload
 * @property {string} id the same at every attempt
 * @property {string | undefined} key
 * @property {string} kind
 * @property {number} attempt from 1
 * @property {number} lostWorkers how many tabs were lost that had claimed it, but for those that exited cleanly
 * @property {AbortSignal} signal aborts when the claim on the job is lost: its tab is frozen or hidden for good,
 *   or the job was cancelled. Nothing of what the handler gives is kept then
 * @property {(fraction: number, note?: string) => void} progress notifies all tabs
 * @property {(payload?: unknown, options?: import('./job-spec.js').EnqueueOptions) => void} next enqueues what
 *   follows, with the settlement of this job: both or neither
 */

/** @typedef {(work: Work) => unknown} Handler its result, or what it throws, goes to the caller that enqueued the job */

/** The handlers of a queue in this tab, each for kinds that no other handler has. */
export class Handlers {
    #changed;

    /** @type {{ kinds: string[] | undefined, handler: Handler }[]} */
    #handlers = [];

    /** @param {() => void} changed called when a handler was added or has ended */
    constructor(changed) {
        this.#changed = changed;
    }

    /**
     * @param {Handler} handler
     * @param {string[] | undefined} kinds undefined: all
     * @returns {() => void} ends it
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

    /** @param {string} kind */
    of(kind) {
        return this.#handlers.find(({ kinds }) => !kinds || kinds.includes(kind))?.handler;
    }

    /** The kinds that are handled; undefined: all. */
    get kinds() {
        const all = this.#handlers.some(({ kinds }) => !kinds);
        return all ? undefined : this.#handlers.flatMap(({ kinds }) => kinds ?? []);
    }

    clear() {
        this.#handlers = [];
    }
}
