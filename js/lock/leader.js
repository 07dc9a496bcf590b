/**
 * One leader over all tabs of the origin that open the same namespace. Made by `tab.leader(name)`.
 *
 * Leadership is the lock `leader/<name>`, and a term is its token: it rises with every leader, for ever,
 * so that a store or a server which refuses older terms refuses a leader that was deposed and does not
 * know it. A leader that dies, or is frozen, is followed by the one that has stood for longest.
 */
export class Leader {
    #lock;

    /**
     * @param {string} name
     * @param {import('./lock.js').Lock} lock
     * @internal
     */
    constructor(name, lock) {
        this.name = name;
        this.#lock = lock;
    }

    /**
     * Stands for leader, and leads while `lead` runs; its end hands over to the next.
     *
     * @template T
     * @param {(term: Term) => T | Promise<T>} lead
     * @param {{ signal?: AbortSignal, timeout?: number, maxHold?: number, label?: string }} [options]
     *   `signal` and `timeout` end the wait; see LockOptions
     * @returns {Promise<T>} what `lead` returns. Rejects with `lock-lost` as soon as it leads no more
     */
    run(lead, options) {
        return this.#lock.run((held) => lead(new Term(held)), options);
    }

    /**
     * The same for `await using term = await leader.lead()`.
     *
     * @param {{ signal?: AbortSignal, timeout?: number, maxHold?: number, label?: string, ifAvailable?: boolean }} [options]
     * @returns {Promise<Term | null>} null when `ifAvailable` was asked for in vain
     */
    async lead(options) {
        const held = await this.#lock.acquire(options);
        return held && new Term(held);
    }

    /**
     * Who leads.
     * @returns {Promise<{ tab: string, label: string, since: number } | null>} null: nobody
     */
    async current() {
        return leaderOf(await this.#lock.query());
    }

    /**
     * Calls `listener` with what current() says, at once and whenever that may have changed.
     *
     * @param {(leader: { tab: string, label: string, since: number } | null) => void} listener
     * @returns {() => void} ends it
     */
    subscribe(listener) {
        return this.#lock.subscribe((requests) => listener(leaderOf(requests)));
    }
}

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/** A term of office. */
export class Term {
    #held;

    /**
     * @param {import('./held.js').Held} held
     * @internal
     */
    constructor(held) {
        this.#held = held;
        /** Rises with every leader, for ever. */
        this.number = /** @type {number} */ (held.token);
    }

    /** Whether it has not ended. */
    get leads() {
        return this.#held.held;
    }

    /** Aborts, with a TabacusError `lock-lost`, when the term ends before it is handed over. */
    get signal() {
        return this.#held.signal;
    }

    /** Hands over to the next. */
    handOver() {
        this.#held.release();
    }

    async [asyncDispose]() {
        this.handOver();
    }

    /**
     * Writes only while no newer leader exists; see Held.commit().
     *
     * @template T
     * @param {string | string[]} stores
     * @param {(tx: import('./held.js').FencedTransaction) => T | Promise<T>} write
     * @returns {Promise<T>}
     */
    commit(stores, write) {
        return this.#held.commit(stores, write);
    }
}

/** @param {import('./locks.js').LockRequestInfo[]} requests */
function leaderOf(requests) {
    const holder = requests.find(({ state }) => state === 'held');
    return holder ? { tab: holder.tab, label: holder.label, since: holder.since } : null;
}
