/**
 * The threads of an exploration. They run blocks of seeds, and the exploration takes the outcomes in the order of the
 * seeds, so that its report is that of one thread.
 *
 * A thread ends its block at a seed that fails. No further block is handed out until the exploration has taken that
 * outcome and asks for the next one; then the rest of the block is handed out, too.
 */

import { openThread } from './seed-thread.web.js';
import { receivedError } from './thread-errors.js';

/** @typedef {import('../explore.js').Outcome} Outcome */
/** @typedef {{ from: number, to: number }} Block the seeds with these indices */
/** @typedef {ReturnType<typeof openThread>} Thread */

/** The largest block. It takes a thread longer than a message between threads does. */
const blockMax = 16;

/** How many blocks a thread may be ahead of the exploration, so that memory stays bounded. */
const aheadMax = 16;

export class SeedThreads {
    /** @type {readonly number[]} */
    #seeds;
    #signal;
    /** @type {Thread[]} */
    #threads = [];
    /** @type {Thread[]} */
    #idle = [];
    /** The first seed that no block contains. */
    #next = 0;
    /** The rests of blocks that ended at a seed that fails. @type {Block[]} */
    #rests = [];
    /** @type {Map<number, Outcome>} */
    #outcomes = new Map();
    /** The index of the outcome that the exploration asks for. */
    #asked = 0;
    /** The failure of a thread, or the abort. @type {{ reason: unknown } | undefined} */
    #failure;
    #wake = () => {};
    /** Whether the exploration has taken the outcome of a seed that fails, and has not asked for another one. */
    #held = false;

    /**
     * @param {readonly number[]} seeds
     * @param {{ count: number, task: import('./seed-worker.js').Task, signal: AbortSignal | undefined }} options
     * @throws {import('../../common/errors.js').TabacusError} `unavailable`
     */
    constructor(seeds, { count, task, signal }) {
        this.#seeds = seeds;
        this.#signal = signal;
        signal?.addEventListener('abort', this.#abort);
        try {
            for (let at = 0; at < Math.min(count, seeds.length); ++at) this.#open(task);
        } catch (error) {
            this.end();
            throw error;
        }
    }

    #abort = () => this.#fail(this.#signal?.reason);

    /** @param {unknown} reason */
    #fail(reason) {
        this.#failure ??= { reason };
        this.#wake();
    }

    /** @param {import('./seed-worker.js').Task} task */
    #open(task) {
        /** @type {Block} */
        let block = { from: 0, to: 0 };
        const thread = openThread(
            ({ outcomes, failure }) => {
                if (!outcomes) return this.#fail(receivedError(failure));
                this.#receive(block, outcomes);
                this.#idle.push(thread);
                return this.#handOut();
            },
            (error) => this.#fail(error),
        );
        const { post, end } = thread;
        this.#threads.push(thread);
        this.#idle.push(thread);
        post(task);
        thread.post = (/** @type {any} */ given) => {
            block = given;
            post(this.#seeds.slice(block.from, block.to));
        };
        thread.end = end;
    }

    /** @param {Block} block @param {Outcome[]} outcomes */
    #receive({ from, to }, outcomes) {
        for (const [at, outcome] of outcomes.entries()) this.#outcomes.set(from + at, outcome);
        const end = from + outcomes.length;
        if (end < to) this.#rests.push({ from: end, to });
        if (this.#outcomes.has(this.#asked)) this.#wake();
    }

    /** The index of the first seed that fails and that the exploration has not taken; Infinity if there is none. */
    #firstFailing() {
        let first = Infinity;
        for (const [at, { failure }] of this.#outcomes) if (failure && at < first) first = at;
        return first;
    }

    #handOut() {
        while (this.#idle.length > 0) {
            const block = this.#takeBlock();
            if (!block) return;
            this.#idle.pop()?.post(block);
        }
    }

    /** @returns {Block | undefined} */
    #takeBlock() {
        if (this.#held) return undefined;
        const threads = this.#threads.length;
        const failing = this.#firstFailing();
        // The exploration asks for these seeds before the one that fails.
        const [rest] = this.#rests.sort((a, b) => a.from - b.from);
        if (rest && rest.from < failing) return this.#rests.shift();
        if (failing < Infinity || this.#next - this.#asked > threads * aheadMax * blockMax) return undefined;
        const left = this.#seeds.length - this.#next;
        if (left === 0) return undefined;
        const from = this.#next;
        // Small blocks at the end let all threads end at about the same time.
        this.#next += Math.min(blockMax, Math.ceil(left / (4 * threads)));
        return { from, to: this.#next };
    }

    /**
     * The outcome of a seed. Seeds are asked for one by one, in their order.
     *
     * @param {number} index
     * @returns {Promise<Outcome>} rejects with the reason of the signal, or with the failure of a thread
     */
    async outcome(index) {
        this.#asked = index;
        this.#held = false;
        for (;;) {
            this.#signal?.throwIfAborted();
            if (this.#failure) throw this.#failure.reason;
            const outcome = this.#outcomes.get(index);
            if (outcome) {
                this.#outcomes.delete(index);
                this.#held = outcome.failure !== '';
                return outcome;
            }
            this.#handOut();
            await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
        }
    }

    /** Ends all threads. */
    async end() {
        this.#signal?.removeEventListener('abort', this.#abort);
        await Promise.all(this.#threads.splice(0).map((thread) => thread.end()));
    }
}
