import { show, TabacusError, TabacusRangeError } from '../../common/errors.js';
import { requestFields, tabPurposes, tabReasons, tabStates } from '../tab-lock/tab-request-layout.js';
import { orAborted, sleepAsync } from '../waiting.js';

/** The requests about one counter that a thread makes of its page. tab_request.hpp describes the protocol. */
export class CounterRequests {
    #core;
    #name;

    /** The addresses of the requests that are not in use. @type {number[]} */
    #idle = [];

    /** The addresses of the requests that the page has not answered. @type {Set<number>} */
    #used = new Set();

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {string} name of the counter
     */
    constructor(core, name) {
        this.#core = core;
        this.#name = name;
    }

    /**
     * Asks the page, and blocks until it has answered.
     *
     * @param {number} how one of tabStates: `asked` to flush, `trying` to read
     * @param {number} timeout_ms
     * @returns {number} the answer
     * @throws {TabacusError} the code of the page's error
     * @throws {DOMException} `TimeoutError`
     */
    ask(how, timeout_ms) {
        const request = this.#begin(how);
        const deadline_ms = performance.now() + timeout_ms;
        while (this.#state(request) === how) {
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms > 0) Atomics.wait(this.#core.words, this.#wordOf(request), how, rest_ms);
            else if (this.#giveUp(request)) throw this.#timedOut(request);
        }
        return this.#answer(request);
    }

    /**
     * Asks the page, without blocking the thread.
     *
     * @param {number} how as for ask()
     * @param {number} timeout_ms
     * @param {AbortSignal} [signal] ends the wait
     * @returns {Promise<number>} the answer. Rejects as ask() throws, with `closed`, and with the reason of
     *   the signal
     */
    async askAsync(how, timeout_ms, signal) {
        const request = this.#begin(how);
        const deadline_ms = performance.now() + timeout_ms;
        try {
            while (this.#state(request) === how) {
                const rest_ms = deadline_ms - performance.now();
                if (rest_ms <= 0 && this.#giveUp(request)) throw this.#timedOut(request);
                if (rest_ms <= 0) continue;
                const answered = sleepAsync(this.#core.words, this.#wordOf(request), how, rest_ms);
                await orAborted(orAborted(answered, signal), this.#core.ending);
                this.#core.assertOpen();
            }
        } catch (error) {
            this.#abandon(request);
            throw error;
        }
        return this.#answer(request);
    }

    /**
     * Ends the use of a request that was given up, so that the page frees it. It is not used again: the page may
     * still work for it, and would answer a later flush with a commit that began before that flush.
     *
     * @param {number} request
     */
    #abandon(request) {
        if (this.#used.delete(request)) this.#close(request);
    }

    /** Gives a request back to the page. @param {number} request */
    #close(request) {
        const { ops, root, words } = this.#core;
        ops.request_close(root, request);
        Atomics.notify(words, this.#wordOf(request)); // settles an abandoned sleep of this thread
    }

    /** Withdraws all requests, when this thread's attachment closes. */
    close() {
        for (const request of [...this.#idle, ...this.#used]) this.#close(request);
        this.#idle = [];
        this.#used.clear();
    }

    /** Makes a request. Returns its address. @param {number} how */
    #begin(how) {
        const core = this.#core;
        const request = this.#idle.pop() ?? core.openRequest(this.#name);
        core.words[(request + requestFields.purpose) >> 2] = tabPurposes.counter;
        this.#used.add(request);
        core.ops.request_ask(core.root, request, how);
        return request;
    }

    /** Ends a request that the page has answered. Returns the answer. @param {number} request */
    #answer(request) {
        const { words } = this.#core;
        const refused = this.#state(request) === tabStates.refused;
        const reason = tabReasons[Number(words[(request + requestFields.reason) >> 2])] || 'unavailable';
        const at = (request + requestFields.token) >> 2;
        const [low = 0, high = 0] = words.subarray(at, at + 2);
        this.#retire(request);
        if (!refused) return high * 2 ** 32 + (low >>> 0);
        if (reason === 'out-of-range') throw new TabacusRangeError(`${show(this.#name)} is beyond ±(2^53−1)`);
        throw new TabacusError(reason, `the page could not commit or read ${show(this.#name)}: ${reason}`);
    }

    /** Returns the index of the word with the state of a request. @param {number} request */
    #wordOf(request) {
        return (request + requestFields.state) >> 2;
    }

    /** Reads the state of a request. @param {number} request */
    #state(request) {
        return Atomics.load(this.#core.words, this.#wordOf(request));
    }

    /** Withdraws a request, unless it is answered. Returns whether it is withdrawn. @param {number} request */
    #giveUp(request) {
        return this.#core.ops.request_give_up(this.#core.root, request) !== 0;
    }

    /** Ends the use of a request that is answered, unless close() has given it back. @param {number} request */
    #retire(request) {
        if (!this.#used.delete(request)) return;
        this.#idle.push(request);
        const { ops, root, words } = this.#core;
        ops.request_release(root, request);
        Atomics.notify(words, this.#wordOf(request)); // settles an abandoned sleep of this thread
    }

    /** Abandons a request, and returns the error of a timeout. @param {number} request */
    #timedOut(request) {
        this.#abandon(request);
        return new DOMException(`the page did not answer for ${show(this.#name)} in time`, 'TimeoutError');
    }
}
