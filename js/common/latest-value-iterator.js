/**
 * Iterates over the current value of a counter, and then over the latest value after each change. A loop that
 * is slower than the changes skips values in between, but never the last one. The iteration ends when the tab
 * is closed.
 *
 * @implements {AsyncIterableIterator<number>}
 */
export class LatestValueIterator {
    /**
     * The latest value, if no call of next() has returned it.
     * @type {number | undefined}
     */
    #value;

    /**
     * The calls of next() that wait for a value.
     * @type {((result: IteratorResult<number, undefined>) => void)[]}
     */
    #waiting = [];

    #ended = false;
    #stop;

    /**
     * @param {(latest: LatestValueIterator) => () => void} start arranges that set() is called at each
     *   change, and returns a function that ends this
     */
    constructor(start) {
        this.#stop = start(this);
    }

    /** Sets the latest value. @param {number} value */
    set(value) {
        const next = this.#waiting.shift();
        if (next) next({ done: false, value });
        else this.#value = value;
    }

    /** Ends the iteration after the latest value. */
    end() {
        this.#ended = true;
        for (const next of this.#waiting.splice(0)) next({ done: true, value: undefined });
    }

    /**
     * Resolves with the next value, or with the end of the iteration.
     *
     * @returns {Promise<IteratorResult<number, undefined>>}
     */
    next() {
        const value = this.#value;
        this.#value = undefined;
        if (value !== undefined) return Promise.resolve({ done: false, value });
        if (this.#ended) return Promise.resolve({ done: true, value: undefined });
        return new Promise((resolve) => this.#waiting.push(resolve));
    }

    /** Ends the iteration, when a loop is left. @returns {Promise<IteratorResult<number, undefined>>} */
    return() {
        this.#stop();
        this.#value = undefined;
        this.end();
        return Promise.resolve({ done: true, value: undefined });
    }

    [Symbol.asyncIterator]() {
        return this;
    }
}
