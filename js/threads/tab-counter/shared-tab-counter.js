import { invalid, show, TabacusError, TabacusRangeError } from '../../common/errors.js';
import { checkFunction, checkOptions } from '../../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../../common/check-waits.js';
import { tabStates } from '../tab-lock/tab-request-layout.js';
import { sleepAsync } from '../waiting.js';
import { cellsFields } from './cells-layout.js';
import { CounterRequests } from './counter-requests.js';

/** The default bound of a wait for the page, in milliseconds. */
const timeoutDefault_ms = 30_000;

/**
 * A counter over all threads and all tabs of the origin, for a thread. It is the same counter as
 * `tab.counter(name)`. `shared.tabCounter(name)` returns it.
 *
 * An add goes to shared memory, and never waits for the page. The page gathers what threads have added, about
 * once in a frame, and commits it as its own increments. If a Worker is terminated, each of its adds
 * that had returned is counted. If the page dies, what it had not committed is lost. Nothing that was flushed is
 * lost, and nothing is counted twice. A page that is busy or hidden gathers late, and always before its last commit.
 *
 * @example
 * const visits = shared.tabCounter('visits');
 * visits.add();
 * await visits.flushAsync(); // or visits.flush(), which blocks a Worker
 */
export class SharedTabCounter {
    #core;
    #cells;
    #index;
    #requests;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {string} name
     */
    constructor(core, name) {
        this.#core = core;
        this.#cells = core.openCells(name);
        this.#index = core.ops.cells_join(this.#cells);
        this.#requests = new CounterRequests(core, name);
        /** The name that was passed to shared.tabCounter(). */
        this.name = name;
    }

    /**
     * Adds `n`, by an atomic addition in shared memory. It returns nothing, because a sum over the cells of all
     * threads would cost more than the add: read `value` where you need it.
     *
     * @param {number} [n] an integer within ±(2^53−1); 1 by default
     * @returns {void}
     * @throws {TabacusRangeError} if the best-known value would leave ±(2^53−1); nothing is added then
     * @throws {TabacusError} `invalid-argument`, `closed`
     */
    add(n = 1) {
        if (typeof n === 'number') {
            const { ops, root } = this.#core;
            if (ops.cells_add(root, this.#cells, this.#index, n) === 0) return;
        }
        this.#core.assertOpen();
        if (!Number.isSafeInteger(n)) throw invalid('n', n, 'a safe integer');
        throw new TabacusRangeError(
            `adding ${show(n)} would bring ${show(this.name)} beyond ±(2^53−1); nothing was added`,
            { argument: 'n', value: n, allowed: 'a sum within ±(2^53−1)' },
        );
    }

    /**
     * The best-known value, without waiting: all adds of the threads of this memory, and what the page knows of
     * all tabs. Until the page has read the counter for the first time, the value consists of the adds of these
     * threads.
     *
     * @returns {number} an integer within ±(2^53−1)
     * @throws {TabacusRangeError} if the value is beyond ±(2^53−1)
     * @throws {TabacusError} `closed`
     */
    get value() {
        const value = this.#core.ops.cells_value(this.#cells);
        if (!Number.isNaN(value)) return value;
        this.#core.assertOpen();
        throw this.#beyond();
    }

    /**
     * Asks the page to read the counter, and resolves with what the store holds together with what this page and
     * its threads have added.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait, as for flushAsync()
     * @returns {Promise<number>} an integer within ±(2^53−1). Rejects as `flushAsync()` does
     */
    async read(options = {}) {
        const value = await this.#askAsync(tabStates.trying, options);
        if (!Number.isSafeInteger(value)) throw this.#beyond();
        return value;
    }

    /**
     * Blocks until all that this thread has added before is committed.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 − 1;
     *   30,000 by default
     * @returns {void}
     * @throws {TabacusError} `would-block` on any main thread, and on the thread that made the memory; the
     *   code with which `flush()` of the tab's counter fails, such as `store-failed`; `closed` if the tab or the
     *   memory is closed; `unavailable` if the page could not load the code
     * @throws {TabacusRangeError} if the counter would leave ±(2^53−1): the adds stay in memory, and are
     *   counted once further adds have brought the counter back into its range
     * @throws {DOMException} `TimeoutError` if the page has not answered in time. What was added is not lost by
     *   that
     */
    flush(options = {}) {
        const { timeout } = checkOptions(options, ['timeout']);
        this.#core.assertOpen();
        if (!this.#core.maySleep || this.#core.answers) {
            throw new TabacusError(
                'would-block',
                'a main thread, and the page that answers, must not block: await flushAsync() instead',
            );
        }
        this.#requests.ask(tabStates.asked, checkTimeout(timeout) ?? timeoutDefault_ms);
    }

    /**
     * Resolves once all that this thread has added before is committed.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait, and only the wait. `timeout`
     *   is in milliseconds, from 0 to 2^31 − 1; 30,000 by default
     * @returns {Promise<void>} rejects as `flush()` throws, and with the reason of the signal
     */
    async flushAsync(options = {}) {
        await this.#askAsync(tabStates.asked, options);
    }

    /**
     * Calls `subscriber` with the value at once, before subscribe() returns, and then when the page has gathered
     * or has learned of adds elsewhere, if the value is another one.
     *
     * @param {(value: number) => void} subscriber
     * @returns {() => void} ends the subscription; calling it again does nothing
     * @throws {TabacusError} `invalid-argument` if `subscriber` is no function; `closed`
     * @throws {TabacusRangeError} if the value is beyond ±(2^53−1)
     */
    subscribe(subscriber) {
        checkFunction('subscriber', subscriber);
        const { words } = this.#core;
        const at = (this.#cells + cellsFields.changes) >> 2;
        const subscription = { ended: false };
        void this.#follow(subscriber, subscription, Atomics.load(words, at), this.value);
        return () => {
            subscription.ended = true;
            Atomics.notify(words, at);
        };
    }

    /**
     * Returns the address of the cells, for use by C++ threads.
     *
     * @param {import('../thread-core.js').ThreadCore} core
     * @returns {number | undefined} undefined if the counter belongs to another memory
     * @internal
     */
    _lendCells(core) {
        return core === this.#core ? this.#cells : undefined;
    }

    /** Withdraws the requests of this thread, when its attachment closes. @internal */
    _close() {
        if (!this.#core.closed) this.#requests.close();
    }

    /**
     * Calls a subscriber until its subscription or the attachment ends.
     *
     * @param {(value: number) => void} subscriber
     * @param {{ ended: boolean }} subscription
     * @param {number} seen the number of changes before `value` was read
     * @param {number} value
     */
    async #follow(subscriber, subscription, seen, value) {
        const { words, ending } = this.#core;
        const at = (this.#cells + cellsFields.changes) >> 2;
        for (let last; ;) {
            if (value !== last && Number.isSafeInteger(value)) {
                last = value;
                try {
                    subscriber(value);
                } catch (error) {
                    reportError(error);
                }
            }
            await sleepAsync(words, at, seen, Infinity, ending);
            if (subscription.ended || this.#core.closed) return;
            seen = Atomics.load(words, at);
            value = this.#core.ops.cells_value(this.#cells);
        }
    }

    /**
     * Asks the page, without blocking.
     *
     * @param {number} how
     * @param {{ signal?: AbortSignal, timeout?: number }} options
     */
    async #askAsync(how, options) {
        const given = checkOptions(options, ['signal', 'timeout']);
        const signal = checkSignal(given.signal);
        const timeout_ms = checkTimeout(given.timeout) ?? timeoutDefault_ms;
        this.#core.assertOpen();
        signal?.throwIfAborted();
        return this.#requests.askAsync(how, timeout_ms, signal);
    }

    #beyond() {
        return new TabacusRangeError(`${show(this.name)} is beyond ±(2^53−1), where numbers are not exact`);
    }
}
