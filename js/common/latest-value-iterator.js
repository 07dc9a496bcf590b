/**
 * A counter's values for `for await`: the current one, then the latest after each change. A slow loop misses
 * values in between, and never the last one. Ends when the tab is closed.
 *
 * @implements {AsyncIterableIterator<number>}
 */
export class LatestValueIterator {
    /**
     * The value not yet taken.
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

    /** @param {(latest: LatestValueIterator) => () => void} start calls set() at each change; returns what stops that */
    constructor(start) {
        this.#stop = start(this);
    }

    /** @param {number} value */
    set(value) {
        const next = this.#waiting.shift();
        if (next) next({ done: false, value });
        else this.#value = value;
    }

    end() {
        this.#ended = true;
        for (const next of this.#waiting.splice(0)) next({ done: true, value: undefined });
    }

    /** @returns {Promise<IteratorResult<number, undefined>>} */
    next() {
        const value = this.#value;
        this.#value = undefined;
        if (value !== undefined) return Promise.resolve({ done: false, value });
        if (this.#ended) return Promise.resolve({ done: true, value: undefined });
        return new Promise((resolve) => this.#waiting.push(resolve));
    }

    /** @returns {Promise<IteratorResult<number, undefined>>} */
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
