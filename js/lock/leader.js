import { checkFunction, checkOptions } from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';
import { LeaderCalls } from './leader-calls.js';
import { Lock } from './lock.js';

/** Options of a candidate: those of a lock, but for `mode`. @typedef {Omit<import('./lock-options.js').LockOptions, 'mode' | 'ifAvailable' | 'fence' | 'evictUnresponsive'>} TermOptions */

/** The names of these options. `mode` is not among them: a leader holds its lock exclusively. */
const waits = /** @type {const} */ ([
    'signal',
    'releaseSignal',
    'timeout',
    'maxHold',
    'label',
    'steal',
    'within',
]);

/**
 * Adds the option by which a leader that does not answer is deposed.
 *
 * @template Options
 * @param {Options} options
 */
const answering = (options) => ({ ...options, evictUnresponsive: true });

/**
 * A leadership, which one tab of all tabs of the origin and namespace has at a time. `tab.leader(name)`
 * returns it.
 *
 * The leader is the holder of the lock `leader/<name>`, and the number of its term is the lock's fencing
 * token. The number rises with every leader and never falls. A leader may have been deposed without knowing
 * it. So a store or a server should remember the newest term that it has seen, and refuse writes of an older
 * term. When a leader dies or is frozen, the candidate that has waited for longest becomes the leader.
 * A leader that does not answer, because its tab is suspended or hangs, is deposed. That takes up to 10 s if
 * a candidate is visible. If all candidates are hidden, it happens when their timers run, once a minute.
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
     * Becomes a candidate, and runs `lead` when this tab is the leader. The term ends when `lead` has ended:
     * the next candidate then becomes the leader.
     *
     * @template T
     * @param {(term: Term) => T | Promise<T>} lead
     * @param {TermOptions} [options]
     * @returns {Promise<T>} what `lead` returns. Rejects at once with `lock-lost` if the term is lost before
     *   `lead` has ended, and else as Lock.run() does
     */
    async run(lead, options = {}) {
        checkFunction('lead', lead);
        checkOptions(options, waits);
        return this.#lock.run((held) => lead(new Term(held, this.#calls)), answering(options));
    }

    /**
     * Becomes a candidate, and resolves with the term when this tab is the leader. `await using term = await
     * leader.lead()` ends the term with the block.
     *
     * @overload
     * @param {TermOptions & { ifAvailable?: false }} [options]
     * @returns {Promise<Term>} rejects as Lock.run() does
     */
    /**
     * With `ifAvailable`, the call never waits for another leader.
     *
     * @overload
     * @param {TermOptions & { ifAvailable?: boolean }} options
     * @returns {Promise<Term | null>} null if there is a leader already
     */
    /**
     * @param {TermOptions & { ifAvailable?: any }} [options]
     * @returns {Promise<any>}
     */
    async lead(options = {}) {
        checkOptions(options, [...waits, 'ifAvailable']);
        const held = await this.#lock.acquire(answering(options));
        return held && new Term(held, this.#calls);
    }

    /**
     * Sends a request to the leader, in whichever tab it is, and resolves with its answer. While there is no
     * leader, the call waits for one. The call outlives the leader: it is kept in IndexedDB until it is
     * answered, and a new leader continues with the calls that the previous one did not answer.
     *
     * Guarantee: several leaders may run a call, one after another, but exactly one run commits its answer,
     * together with what it wrote by LeaderCall.write(). Anything else that a handler does is done at least
     * once, and is repeated if a leader dies: pass `call.id` to the server, so that it can recognise a
     * repetition. (The protocol is wasm/include/tabacus/lock/leader.hpp.)
     *
     * @param {unknown} request a value that structuredClone() and IndexedDB accept, or undefined
     * @param {{ key?: string, signal?: AbortSignal, timeout?: number }} [options] `key`: all calls with the
     *   same key are one call, until an hour after its answer; at most 1024 UTF-16 units. `signal`, and
     *   `timeout` in milliseconds, end the wait and withdraw the call; if the answer is already committed, it
     *   is returned instead, unless the store does not answer within 100 ms. A call with a key is not withdrawn: only this wait for it ends
     * @returns {Promise<any>} what the handler returned. Rejects with a clone of what the handler threw; with
     *   the reason of `signal`, or a `TimeoutError`; with `unknown-commit` if
     *   the call is kept, but the database was lost or does not answer; and with
     *   `invalid-argument`, `closed`, `unavailable` without IndexedDB, or an error of the store
     * @example
     * const receipt = await tab.leader('payments').call({ pay: 12 }, { key: order });
     */
    async call(request, options) {
        return this.#calls.call(request, options);
    }

    /**
     * Returns the present leader: the identifier of its context, its label, and when its term began, in
     * milliseconds since the Unix epoch.
     *
     * @param {import('../common/wait-end.js').WaitOptions} [options] end the wait: with the signal's reason, or with a
     *   `TimeoutError` after `timeout` milliseconds
     * @returns {Promise<{ tab: string, label: string, since: number } | null>} null if there is no leader
     */
    async current(options) {
        return leaderOf(await this.#lock.query(options));
    }

    /**
     * Calls `listener` with the result of current(): as soon as that is known, and whenever it has changed.
     *
     * @param {(leader: { tab: string, label: string, since: number } | null) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {import('../common/errors.js').TabacusError} `invalid-argument`, `closed`
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        /** @type {string | undefined} */
        let last;
        return this.#lock.subscribe((requests) => {
            const leader = leaderOf(requests);
            const text = JSON.stringify(leader);
            if (text === last) return; // only the candidates have changed
            last = text;
            listener(leader);
        });
    }
}

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/** A term: the time for which one tab is the leader. */
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
        /** The number of the term, which is greater than that of every earlier term of this name. */
        this.number = /** @type {number} */ (held.token);
    }

    /** Whether the term has not ended: neither handed over nor lost. */
    get leads() {
        return this.#held.held;
    }

    /**
     * A signal that aborts if the term is lost before it is handed over: with a TabacusError `lock-lost`, or
     * with the reason of `releaseSignal`.
     */
    get signal() {
        return this.#held.signal;
    }

    /** Ends the term, so that the next candidate becomes the leader. Does nothing if it has ended. */
    handOver() {
        this.#held.release();
    }

    async [asyncDispose]() {
        this.handOver();
    }

    /**
     * Answers the calls of Leader.call(), one after another in the order of the calls, until the term is
     * handed over. The answer of each is committed only while no newer leader exists.
     *
     * @param {(request: any, call: import('./leader-calls.js').LeaderCall) => unknown} handler its result, or
     *   the error that it throws, is the answer
     * @returns {Promise<void>} resolves when the term is handed over. Rejects with `lock-lost` if the term is
     *   lost, with the reason of `releaseSignal`, and with `invalid-argument`, `unavailable` without IndexedDB, or an
     *   error of the store
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
     * Writes in a transaction that is committed only while no newer leader exists, as Held.commit() does.
     *
     * @template T
     * @param {string | string[]} stores names of your own stores
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write
     * @returns {Promise<T>} what `write` returned; rejects as Held.commit() does
     */
    commit(stores, write) {
        return this.#held.commit(stores, write);
    }
}

/**
 * Returns the holder among the requests for a leader's lock.
 *
 * @param {import('./lock-observer.js').LockRequestInfo[]} requests
 */
function leaderOf(requests) {
    const holder = requests.find(({ state }) => state === 'held');
    return holder ? { tab: holder.tab, label: holder.label, since: holder.since } : null;
}
