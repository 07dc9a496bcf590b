/** The end of a wait by a signal or a timeout, even while the browser does not answer. */

import { checkOptions } from './check-arguments.js';
import { checkSignal, checkTimeout } from './check-waits.js';

/** The options of a call that end its wait. @typedef {{ signal?: AbortSignal, timeout?: number }} WaitOptions */

/** The shortest time after which a browser counts as not answering, so that a short `timeout` can still succeed. */
const answerMsMin = 1_000;

/** How long a wait goes on after its end, so that the core can withdraw the call or return an answer that it has. */
const withdrawal_ms = 100;

/** Ends one wait: when a signal aborts, or when a time has passed. */
export class WaitEnd {
    /** Whether the wait has ended without an answer. */
    over = false;

    /** Why the wait ends; undefined before that. @type {unknown} */
    reason;

    /** @type {(() => void)[]} */
    #stops = [];

    /**
     * @param {import('../host/clock.js').ClockHost} clock
     * @param {(AbortSignal | undefined)[]} signals
     * @param {number | undefined} timeout in milliseconds
     * @param {() => unknown} [withdraw] asks the core to end the call; the wait goes on for its answer for `withdrawal_ms`
     */
    constructor(clock, signals, timeout, withdraw) {
        for (const signal of signals) signal?.throwIfAborted();
        /** Rejects when the wait ends. @type {Promise<never>} */
        this.ended = new Promise((_, reject) => {
            const end = () => {
                this.done();
                this.over = true;
                reject(this.reason);
            };
            for (const signal of signals) {
                const abort = () => {
                    this.reason ??= signal?.reason;
                    if (!withdraw) return end();
                    this.#stops.push(clock.after(withdrawal_ms, end));
                    withdraw();
                };
                signal?.addEventListener('abort', abort);
                this.#stops.push(() => signal?.removeEventListener('abort', abort));
            }
            if (timeout === undefined) return;
            const expire = () => {
                this.reason ??= new DOMException(`this was not done within ${timeout} ms`, 'TimeoutError');
                end();
                withdraw?.();
            };
            // The core has a timer of its own, after which it may still get an answer. The second timer here begins when
            // the first one fires, since a hidden tab fires all timers that are due at once.
            const grace = () => this.#stops.push(clock.after(withdrawal_ms, expire));
            const bound_ms = withdraw
                ? Math.max(timeout, answerMsMin - withdrawal_ms)
                : Math.max(timeout, answerMsMin);
            this.#stops.push(clock.after(bound_ms, withdraw ? grace : expire));
        });
        this.ended.catch(() => {});
    }

    /** Stops listening: there is an answer. */
    done() {
        for (const stop of this.#stops) stop();
    }

    /**
     * Waits for work, or for the end of the wait.
     *
     * @template T
     * @param {Promise<T>} work
     * @param {(value: T) => unknown} [unwanted] gets a value that comes after the end of the wait
     * @returns {Promise<T>}
     */
    race(work, unwanted) {
        const answered = work.then(
            (value) => {
                if (!this.over) return (this.done(), value);
                unwanted?.(value);
                return this.ended;
            },
            (error) => {
                this.done();
                throw error;
            },
        );
        return Promise.race([answered, this.ended]);
    }
}

/**
 * Begins work, and waits for it as long as options of the application allow. The work itself goes on.
 *
 * @template T
 * @param {import('../host/clock.js').ClockHost} clock
 * @param {unknown} options undefined if there are none
 * @param {() => Promise<T>} begin is not called if the signal has aborted
 * @param {(value: T) => unknown} [unwanted] gets a value that comes after the end of the wait
 * @returns {Promise<T>} rejects with the signal's reason, with a `TimeoutError`, or with `invalid-argument`
 */
export async function within(clock, options, begin, unwanted) {
    if (options === undefined) return begin();
    const { signal, timeout } = checkOptions(options, ['signal', 'timeout']);
    const end = new WaitEnd(clock, [checkSignal(signal)], checkTimeout(timeout));
    return end.race(begin(), unwanted);
}
