/** Warnings of requests for locks that wait for long. */

/**
 * How long a warning waits for the description of the holder. If it does not come in time, the warning is
 * emitted without it. It is also the least time between two warnings.
 */
const answer_ms = 1_000;

/**
 * A request that waits.
 * @typedef {{ kind: 'lock' | 'semaphore', names: string[], since_ms: number, ended: boolean }} Waiting
 */

/** Warns once of each request that waits for longer than the option `timeouts.slowLock` of open(). */
export class SlowLocks {
    #locks;
    #owner;
    #clock;
    #slow_ms;

    /** The requests of which the tab has not warned, the oldest first. @type {Set<Waiting>} */
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
     * Warns of a request that waits for long. Candidates of leaders are left out, because they wait for as long as
     * another tab leads.
     *
     * @template T
     * @param {Promise<T>} request
     * @param {Waiting['kind']} kind
     * @param {string[]} names of its locks
     * @returns {Promise<T>} the request
     */
    warnOf(request, kind, names) {
        if (this.#slow_ms === Infinity || names.some((name) => name.startsWith('leader/'))) return request;
        const waiting = { kind, names, since_ms: this.#clock.monotonic(), ended: false };
        this.#waiting.add(waiting);
        if (!this.#stop) this.#start(this.#slow_ms);
        const ended = () => {
            waiting.ended = true;
            this.#waiting.delete(waiting);
        };
        request.then(ended, ended);
        return request;
    }

    /** Starts the timer. A tab that is no longer used can be collected meanwhile. @param {number} delay_ms */
    #start(delay_ms) {
        const self = new WeakRef(this);
        this.#stop = this.#clock.after(delay_ms, () => self.deref()?._warnOfOld());
    }

    /** Ends the timer. */
    end() {
        this.#stop?.();
        this.#stop = undefined;
    }

    /**
     * Warns once of all requests for the same locks that have become old, so that the cost does not grow with them.
     * @internal
     */
    _warnOfOld() {
        this.#stop = undefined;
        /** @type {Map<string, Waiting>} */
        const oldest = new Map();
        for (const waiting of this.#waiting) {
            const left_ms = waiting.since_ms + this.#slow_ms - this.#clock.monotonic();
            if (left_ms > 0) {
                this.#start(Math.max(left_ms, answer_ms));
                break;
            }
            this.#waiting.delete(waiting);
            const key = JSON.stringify([waiting.kind, waiting.names]);
            if (!oldest.has(key)) oldest.set(key, waiting);
        }
        for (const waiting of oldest.values()) void this.#warn(waiting);
    }

    /** @param {Waiting} waiting */
    async #warn(waiting) {
        const { kind, names, since_ms } = waiting;
        const holders = kind === 'lock' ? await Promise.all(names.map((name) => this.#holderOf(name))) : [];
        const waited_s = Math.round((this.#clock.monotonic() - since_ms) / 1000);
        const known =
            holders.filter((holder) => holder !== undefined).join(', ') || 'who holds it is not known';
        if (waiting.ended || this.#locks._access._ended) return;
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
