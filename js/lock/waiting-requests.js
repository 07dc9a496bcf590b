/** The requests of a tab's locks that wait, and warnings of those that wait for long. */

/**
 * How long a warning waits for the description of the holder. If it does not come in time, the warning is
 * emitted without it. It is also the least time between two warnings.
 */
const answer_ms = 1_000;

/** What a request waits for: its locks. @typedef {{ kind: 'lock' | 'semaphore', names: string[] }} Watched */

/**
 * The requests of a tab's locks that wait. Warns once of each that waits for a lock for longer than the option
 * `timeouts.slowLock` of open().
 */
export class WaitingRequests {
    #locks;
    #owner;
    #clock;
    #slow_ms;

    /** When each request began to wait, by the number that lockAbort() takes. @type {Map<number, number>} */
    #since_ms = new Map();

    /** The locks of each request for which a warning is still due, the oldest first. @type {Map<number, Watched>} */
    #watched = new Map();

    /**
     * Ends the timer, which runs for the oldest request. It goes on when no request waits any more: most requests wait
     * for a moment, and must not pay for a timer each.
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
     * Adds a request. Warns if it waits for long, unless end() is called before. Candidates of leaders are left out,
     * because they wait for as long as another tab leads.
     *
     * @param {number} request
     * @param {Watched | undefined} watched undefined if it does not wait for a lock
     */
    begin(request, watched) {
        this.#since_ms.set(request, this.#clock.monotonic());
        const warns = this.#slow_ms !== Infinity && watched;
        if (warns && !watched.names.some((name) => name.startsWith('leader/'))) {
            this.#watched.set(request, watched);
            if (!this.#stop) this.#start(this.#slow_ms);
        }
    }

    /** The numbers of the requests. */
    numbers() {
        return [...this.#since_ms.keys()];
    }

    /** Removes a request, if it is there. @param {number} request */
    end(request) {
        this.#since_ms.delete(request);
        this.#watched.delete(request);
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
        /** @type {Map<string, [number, Watched]>} */
        const oldest = new Map();
        for (const [request, watched] of this.#watched) {
            const left_ms = this.#slow_ms - this.#waited_ms(request);
            if (left_ms > 0) {
                this.#start(Math.max(left_ms, answer_ms));
                break;
            }
            this.#watched.delete(request);
            const key = JSON.stringify([watched.kind, watched.names]);
            if (!oldest.has(key)) oldest.set(key, [request, watched]);
        }
        for (const [request, watched] of oldest.values()) void this.#warn(request, watched);
    }

    /** How long a request has waited; NaN if it does not wait any more. @param {number} request */
    #waited_ms(request) {
        return this.#clock.monotonic() - (this.#since_ms.get(request) ?? NaN);
    }

    /** @param {number} request @param {Watched} watched */
    async #warn(request, { kind, names }) {
        const holders = kind === 'lock' ? await Promise.all(names.map((name) => this.#holderOf(name))) : [];
        const waited_s = Math.round(this.#waited_ms(request) / 1000);
        const known =
            holders.filter((holder) => holder !== undefined).join(', ') || 'who holds it is not known';
        if (!this.#since_ms.has(request) || this.#locks._access._ended) return;
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
