/** The requests for locks that wait, and warnings of those that wait for long. */

/**
 * How long a warning waits for the description of the holder. If it does not come in time, the warning is
 * emitted without it. It is also the least time between two warnings.
 */
const answer_ms = 1_000;

/** What a request waits for: its locks. @typedef {{ kind: 'lock' | 'semaphore', names: string[] }} Watched */

/**
 * A request that waits.
 *
 * @typedef {object} Waiting
 * @property {number} request as lockAbort() takes it
 * @property {Watched | undefined} watched undefined if no warning of it is to come
 * @property {number} since_ms since when it waits
 */

/**
 * Knows the requests that wait, and warns once of each that waits for a lock for longer than the option
 * `timeouts.slowLock` of open().
 */
export class SlowLocks {
    #locks;
    #owner;
    #clock;
    #slow_ms;

    /** The oldest first. @type {Set<Waiting>} */
    #waiting = new Set();

    /**
     * Ends the timer, which runs for the oldest request. It goes on when no request waits any more: most requests are
     * granted at once, and must not pay for a timer each.
     *
     * @type {(() => void) | undefined}
     */
    #stop;

    /**
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {import('../tab/tab.js').Tab} owner
     * @param {import('../tab/engine.js').Engine} engine
     */
    constructor(locks, owner, { host }) {
        this.#locks = locks;
        this.#owner = owner;
        this.#clock = host.clock;
        this.#slow_ms = host.timeouts.slowLock;
    }

    /**
     * Called when a request begins to wait. Warns if it waits for long, unless end() is called before. Candidates of
     * leaders are left out, because they wait for as long as another tab leads.
     *
     * @param {number} request
     * @param {Watched | undefined} watched undefined if it does not wait for a lock
     * @returns {Waiting}
     */
    begin(request, watched) {
        const isWatched =
            watched &&
            this.#slow_ms !== Infinity &&
            !watched.names.some((name) => name.startsWith('leader/'));
        const since_ms = this.#clock.monotonic();
        const waiting = { request, watched: isWatched ? watched : undefined, since_ms };
        this.#waiting.add(waiting);
        if (isWatched && !this.#stop) this.#start(this.#slow_ms);
        return waiting;
    }

    /** The requests that wait. */
    requests() {
        return [...this.#waiting].map(({ request }) => request);
    }

    /** Called when a request waits no more. @param {Waiting} waiting */
    end(waiting) {
        this.#waiting.delete(waiting);
    }

    /** Starts the timer. A tab that is no longer used can be collected meanwhile. @param {number} delay_ms */
    #start(delay_ms) {
        const self = new WeakRef(this);
        this.#stop = this.#clock.after(delay_ms, () => self.deref()?._warnOfOld());
    }

    /** Ends the timer. */
    stop() {
        this.#stop?.();
        this.#stop = undefined;
    }

    /**
     * Warns once of all requests for the same locks that have become old, so that the cost does not grow with them.
     * @internal
     */
    _warnOfOld() {
        this.#stop = undefined;
        /** @type {Map<string, [Waiting, Watched]>} */
        const oldest = new Map();
        for (const waiting of this.#waiting) {
            const { watched, since_ms } = waiting;
            if (!watched) continue;
            const left_ms = since_ms + this.#slow_ms - this.#clock.monotonic();
            if (left_ms > 0) {
                this.#start(Math.max(left_ms, answer_ms));
                break;
            }
            waiting.watched = undefined;
            const key = JSON.stringify([watched.kind, watched.names]);
            if (!oldest.has(key)) oldest.set(key, [waiting, watched]);
        }
        for (const [waiting, watched] of oldest.values()) void this.#warn(waiting, watched);
    }

    /** @param {Waiting} waiting @param {Watched} watched */
    async #warn(waiting, { kind, names }) {
        const holders = kind === 'lock' ? await Promise.all(names.map((name) => this.#holderOf(name))) : [];
        const waited_s = Math.round((this.#clock.monotonic() - waiting.since_ms) / 1000);
        const known =
            holders.filter((holder) => holder !== undefined).join(', ') || 'who holds it is not known';
        if (!this.#waiting.has(waiting) || this.#locks._access._ended) return;
        this.#owner._emit('warning', {
            code: 'slow-lock',
            message: `A request for the ${kind} "${names.join('", "')}" has waited for ${waited_s} s: ${known}.`,
            subject: names.join(', '),
        });
    }

    /**
     * Describes the holder of a lock. Resolves with undefined if there is none, or if that is not known in time.
     *
     * @param {string} name
     */
    async #holderOf(name) {
        /** @type {Promise<import('./lock-observer.js').LockRequestInfo[]>} */
        const late = new Promise((resolve) => this.#clock.after(answer_ms, () => resolve([])));
        const requests = await Promise.race([this.#locks.query(name).catch(() => []), late]);
        const holder = requests.find(({ state }) => state === 'held');
        if (!holder) return undefined;
        const held_s = Math.max(0, Math.round((this.#clock.now() - holder.since) / 1000));
        return `the tab ${holder.tab}${holder.label && ` ("${holder.label}")`} has held it for ${held_s} s`;
    }
}
