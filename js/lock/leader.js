import { checkFunction, checkOptions } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';
import { LeaderCalls } from './leader-calls.js';
import { Lock } from './lock.js';

/** `signal` and `timeout` end the wait. @typedef {Omit<import('./lock-options.js').LockOptions, 'mode' | 'ifAvailable'>} TermOptions */

/** Options of Lock that a term can have: a shared one would not be alone. */
const waits = /** @type {const} */ (['signal', 'timeout', 'maxHold', 'label', 'steal', 'within']);

/**
 * One leader over all tabs of the origin that open the same namespace. Made by `tab.leader(name)`.
 *
 * Leadership is the lock `leader/<name>`, and a term is its token: it rises with every leader, for ever,
 * so that a store or a server which refuses older terms refuses a leader that was deposed and does not
 * know it. A leader that dies, or is frozen, is followed by the candidate that has waited for longest.
 */
export class Leader extends Successor {
    #lock;
    #calls;

    /**
     * @param {{ name: string }} object
     * @param {import('./tab-locks.js').TabLocks} locks
     * @internal
     */
    constructor(object, locks) {
        super(object);
        const { name } = object;
        this.name = name;
        this.#lock = new Lock({ name: `leader/${name}` }, locks);
        this.#calls = new LeaderCalls(name, locks);
    }

    /**
     * Stands for leader, and leads while `lead` runs; its end hands over to the next.
     *
     * @template T
     * @param {(term: Term) => T | Promise<T>} lead
     * @param {TermOptions} [options]
     * @returns {Promise<T>} what `lead` returns. Rejects with `lock-lost` as soon as it leads no more
     */
    async run(lead, options = {}) {
        checkFunction('lead', lead);
        checkOptions(options, waits);
        return this.#lock.run((held) => lead(new Term(held, this.#calls)), options);
    }

    /**
     * Stands for leader, for `await using term = await leader.lead()`.
     *
     * @overload
     * @param {TermOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<Term>} rejects as Lock.run()
     */
    /**
     * With `ifAvailable`, it never waits.
     *
     * @overload
     * @param {TermOptions & { ifAvailable?: boolean }} options
     * @returns {Promise<Term | null>} null when it was asked for in vain
     */
    /**
     * @param {TermOptions & { ifAvailable?: any }} [options]
     * @returns {Promise<any>}
     */
    async lead(options = {}) {
        checkOptions(options, [...waits, 'ifAvailable']);
        const held = await this.#lock.acquire(options);
        return held && new Term(held, this.#calls);
    }

    /**
     * Asks the leader, in whatever tab, and gives its answer; waits where there is none. The call outlives
     * the leader: it is kept in IndexedDB until it is answered, and the next leader takes up what the one
     * before it left.
     *
     * Guarantee: of all runs of a call by one leader after another, exactly one commits its answer, with what
     * LeaderCall.write() wrote. What a handler does elsewhere is done at least once, and may be done again
     * after a leader's death: give `call.id` to it.
     *
     * @param {unknown} request what can be cloned (structuredClone)
     * @param {{ key?: string, signal?: AbortSignal, timeout?: number }} [options] calls of one `key` are one
     *   call, for an hour after its answer. `signal` and `timeout` take the call back, unless its answer was
     *   committed before: then that is returned. A call with a key is not taken back, only left alone
     * @returns {Promise<any>} what the handler returned; rejects with a clone of what it threw
     * @example
     * const receipt = await tab.leader('payments').call({ pay: 12 }, { key: order });
     */
    async call(request, options) {
        return this.#calls.call(request, options);
    }

    /**
     * The present leader.
     * @returns {Promise<{ tab: string, label: string, since: number } | null>} null: nobody
     */
    async current() {
        return leaderOf(await this.#lock.query());
    }

    /**
     * Calls `listener` with the result of current(), at once and whenever that has changed.
     *
     * @param {(leader: { tab: string, label: string, since: number } | null) => void} listener
     * @returns {() => void} ends it
     * @throws {import('../common/errors.js').TabacusError} `invalid-argument`, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        /** @type {string | undefined} */
        let last;
        return this.#lock.subscribe((requests) => {
            const leader = leaderOf(requests);
            const text = JSON.stringify(leader);
            if (text === last) return; // others wait, or do not any more
            last = text;
            listener(leader);
        });
    }
}

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/** A term of office. */
export class Term {
    #held;
    #calls;

    /**
     * @param {import('./held.js').Held} held
     * @param {LeaderCalls} calls
     * @internal
     */
    constructor(held, calls) {
        this.#held = held;
        this.#calls = calls;
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
     * Answers Leader.call(), one call after another in their order, until it hands over. Each runs under this
     * term, and its answer is committed only while no newer leader exists.
     *
     * @param {(request: any, call: import('./leader-calls.js').LeaderCall) => unknown} handler what it returns,
     *   or throws, is the answer
     * @returns {Promise<void>} rejects with `lock-lost` when the term is lost
     * @example
     * await tab.leader('payments').run((term) =>
     *     term.answer(async ({ pay }, call) => {
     *         const receipt = await bank.pay(pay, { idempotencyKey: call.id });
     *         call.write('receipts', (tx) => tx.put('receipts', call.id, receipt));
     *         return receipt;
     *     }),
     * );
     */
    async answer(handler) {
        return this.#calls.answer(this.#held, handler);
    }

    /**
     * Writes only while no newer leader exists; see Held.commit().
     *
     * @template T
     * @param {string | string[]} stores
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write
     * @returns {Promise<T>}
     */
    commit(stores, write) {
        return this.#held.commit(stores, write);
    }
}

/** @param {import('./tab-locks.js').LockRequestInfo[]} requests */
function leaderOf(requests) {
    const holder = requests.find(({ state }) => state === 'held');
    return holder ? { tab: holder.tab, label: holder.label, since: holder.since } : null;
}
