import { attempt } from './failure.js';

/** The wall clock is slewed and set; the other is not. */
const agreement_ms = 5;

/** Time, timers and randomness. */
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
     * The wall clock, with the fraction of its millisecond where the other clock agrees with it: so some of what
     * several tabs do within one millisecond can be ordered.
     */
    now() {
        const now_ms = (this.#platform.Date ?? Date).now();
        const fine_ms = this.#origin_ms + this.monotonic();
        if (!(Math.abs(fine_ms - now_ms) < agreement_ms)) return now_ms;
        return Math.min(Math.max(fine_ms, now_ms), now_ms + 0.999);
    }

    monotonic() {
        return (this.#platform.performance ?? performance).now();
    }

    /**
     * @param {number} operation
     * @param {number} delay_ms
     */
    sleep(operation, delay_ms) {
        this.after(delay_ms, () => this.#report.settled(operation));
    }

    /**
     * When so many microtasks have run, each queued by the one before it.
     *
     * @param {number} operation
     * @param {number} count 1 or more
     */
    async afterMicrotasks(operation, count) {
        // Each await is one, and costs much less than queueMicrotask().
        for (let left = count; left > 0; left--) await undefined;
        this.#report.settled(operation);
    }

    /**
     * Calls `callback` after a delay, unless the function that it returns was called before.
     *
     * @param {number} delay_ms
     * @param {() => void} callback
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

    /** 32 random bits. Identities come from here, which must differ and need not be secret. */
    random32() {
        const bits = attempt(() => this.#platform.crypto?.getRandomValues(new Uint32Array(1))[0]);
        return bits ?? Math.floor(Math.random() * 2 ** 32);
    }

    dispose() {
        for (const timer of this.#timers) this.#platform.clearTimeout?.(timer);
        this.#timers.clear();
    }
}
