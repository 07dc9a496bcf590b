import { attempt } from './failure.js';

/**
 * The largest difference at which the two clocks are taken to agree. A system may set its wall clock, but not its
 * monotonic clock.
 */
const agreement_ms = 5;

/** Clocks, timers and random numbers of the platform. */
export class ClockHost {
    #platform;
    #report;
    #origin_ms;

    /** @type {Set<unknown>} */
    #timers = new Set();

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, report) {
        this.#platform = platform;
        this.#report = report;
        this.#origin_ms = (platform.performance ?? performance).timeOrigin ?? NaN;
    }

    /**
     * Returns the time of the wall clock, in milliseconds since the Unix epoch. While the monotonic clock
     * agrees with the wall clock, the result has a fraction. So events of several tabs within one millisecond
     * can often be ordered.
     */
    now() {
        const now_ms = (this.#platform.Date ?? Date).now();
        const fine_ms = this.#origin_ms + this.monotonic();
        if (!(Math.abs(fine_ms - now_ms) < agreement_ms)) return now_ms;
        return Math.min(Math.max(fine_ms, now_ms), now_ms + 0.999);
    }

    /** Returns the time of the monotonic clock, in milliseconds since the context began. */
    monotonic() {
        return (this.#platform.performance ?? performance).now();
    }

    /**
     * Settles the operation after a delay.
     *
     * @param {number} operation
     * @param {number} delay_ms
     */
    sleep(operation, delay_ms) {
        this.after(delay_ms, () => this.#report.settled(operation));
    }

    /**
     * Settles the operation after `count` microtasks, each of which queues the next.
     *
     * @param {number} operation
     * @param {number} count 1 or more
     */
    async afterMicrotasks(operation, count) {
        // Each `await` is one microtask, and costs much less than queueMicrotask().
        for (let left = count; left > 0; left--) await undefined;
        this.#report.settled(operation);
    }

    /**
     * Calls `callback` after a delay.
     *
     * @param {number} delay_ms
     * @param {() => void} callback
     * @returns {() => void} cancels the call; does nothing once it was made
     */
    after(delay_ms, callback) {
        const timer = this.#platform.setTimeout?.(() => {
            this.#timers.delete(timer);
            callback();
        }, delay_ms);
        this.#timers.add(timer);
        return () => {
            if (this.#timers.delete(timer)) this.#platform.clearTimeout?.(timer);
        };
    }

    /** Returns 32 random bits. They are used for identifiers, which must be unique but need not be secret. */
    random32() {
        const bits = attempt(() => this.#platform.crypto?.getRandomValues(new Uint32Array(1))[0]);
        return bits ?? Math.floor(Math.random() * 2 ** 32);
    }

    /** Cancels all timers. */
    dispose() {
        for (const timer of this.#timers) this.#platform.clearTimeout?.(timer);
        this.#timers.clear();
    }
}
