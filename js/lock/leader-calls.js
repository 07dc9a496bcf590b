/**
 * The JavaScript half of calls to a leader that outlive it: requests, handlers and answers.
 * wasm/include/tabacus/lock/leader.hpp describes what is stored of a call, and when.
 */

import { checkFunction, checkOptions } from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import {
    leaderAnswer,
    leaderAnswering,
    leaderBegin,
    leaderCall,
    leaderNext,
} from '../core/generated/locks.js';
import { transact } from './fenced-transaction.js';
import { coreName } from './names.js';
import { cloneError, unlessAborted, unwrapOutcome } from './outcome.js';
import { checkKey, checkStores, cloned } from './store-arguments.js';

/** @typedef {import('./held.js').Held} Held */
/** @typedef {(tx: import('./fenced-transaction.js').FencedTransaction) => unknown} Write */
/** @typedef {{ stores: string[], write: Write }} Writes */

/** A call, as a handler of Term.answer() gets it. */
export class LeaderCall {
    /** @type {Writes[]} */
    #writes = [];

    /**
     * @param {string} id
     * @param {number} term
     * @param {AbortSignal} signal
     * @internal
     */
    constructor(id, term, signal) {
        /**
         * The identifier of the call, the same for every leader that runs it. Use it as an idempotency key.
         */
        this.id = id;
        /** The number of the term in which this run takes place. */
        this.term = term;
        /** A signal that aborts if the term is lost. Another leader then runs the call again. */
        this.signal = signal;
    }

    /**
     * Registers a function that runs in the transaction that commits the answer. What it writes is committed
     * together with the answer, and so exactly once. If the handler throws, the function does not run.
     *
     * @param {string | string[]} stores names of your own stores, as for Held.commit()
     * @param {Write} write may await nothing but the calls of `tx`, as for Held.commit()
     * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
     */
    write(stores, write) {
        const names = checkStores(stores);
        checkFunction('write', write);
        this.#writes.push({ stores: names, write });
    }

    /** @internal */
    get _writes() {
        return this.#writes;
    }
}

/** The calls of one leadership in this tab: those that it makes, and those that it answers. */
export class LeaderCalls {
    #name;
    #locks;

    /**
     * @param {string} name
     * @param {import('./tab-locks.js').TabLocks} locks
     */
    constructor(name, locks) {
        this.#name = name;
        this.#locks = locks;
    }

    /**
     * Implements Leader.call(): checks the arguments, and makes the call.
     *
     * @param {unknown} request
     * @param {unknown} given the options
     */
    async call(request, given = {}) {
        const options = checkOptions(given, ['key', 'signal', 'timeout']);
        const key = options.key === undefined ? null : checkKey('key', options.key);
        const signal = checkSignal(options.signal);
        const timeout = checkTimeout(options.timeout);
        const kept = { request: request === undefined ? undefined : cloned('request', request) };
        return this.#call(kept, { key, timeout_ms: timeout }, signal);
    }

    /**
     * Stores a call, and waits for its answer.
     *
     * @param {object} kept an object with the request in it
     * @param {import('../core/generated/locks.js').LeaderCallOptions} options
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<any>} the answer of the leader
     */
    async #call(kept, options, signal) {
        const locks = this.#locks;
        locks._access._assertAsked();
        await locks._loadLeader();
        locks._access._assertOpen();
        locks._access._assertStore('calls');
        const { _bridge: bridge } = locks;
        const { values } = bridge.host;
        const name = locks._name(this.#name);
        const answer = await locks._wait(
            {
                signals: [signal],
                timeout: options.timeout_ms,
                unwanted: ({ text }) => void values.take(text),
            },
            (request) => {
                const call = values.keep(kept);
                return leaderCall(bridge, name, call, options, request).finally(() => values.take(call));
            },
            (one) => one,
        );
        return unwrapOutcome(answer.succeeded, values.take(answer.text));
    }

    /**
     * Implements Term.answer(): answers the stored calls and the new ones, in their order, until the term
     * ends.
     *
     * @template T
     * @param {Held} term
     * @param {(request: any, call: LeaderCall) => T | Promise<T>} handler
     */
    async answer(term, handler) {
        checkFunction('handler', handler);
        const locks = this.#locks;
        locks._access._assertAsked();
        await locks._loadLeader();
        locks._access._assertOpen();
        locks._access._assertStore('calls');
        term.assertHeld();
        await leaderBegin(locks._bridge, locks._name(this.#name), term._id);
        for (;;) {
            const next = await this.#next(locks, term);
            term._assertNotLost();
            if (!next) return;
            const call = new LeaderCall(next.id, /** @type {number} */ (term.token), term.signal);
            const handedOver = await this.#run(locks, term, call, () => handler(next.request, call));
            if (handedOver) return;
        }
    }

    /**
     * Runs the handler for a call, and commits its result or its error as the answer.
     *
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {Held} term
     * @param {LeaderCall} call
     * @param {() => unknown} handle
     * @returns {Promise<boolean>} whether the term was handed over meanwhile
     */
    async #run(locks, term, call, handle) {
        /** @param {boolean} succeeded @param {object} result @param {Writes[]} writes */
        const settle = (succeeded, result, writes) =>
            this.#answer(locks, term, call.id, { succeeded, result }, writes);
        try {
            const value = await unlessAborted(term, handle);
            if (value !== undefined) cloned('value', value);
            await settle(true, { value }, call._writes);
        } catch (error) {
            if (!term.held && !term.signal.aborted) return true;
            term.assertHeld();
            await settle(false, cloneError(error), []);
        }
        return false;
    }

    /**
     * Waits for the first call that is not answered.
     *
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {Held} term
     * @returns {Promise<{ id: string, request: unknown } | undefined>} undefined if the term was handed over
     */
    async #next(locks, term) {
        locks._access._assertOpen();
        const { _bridge: bridge } = locks;
        const found = await leaderNext(bridge, coreName(this.#name), term._id);
        if (!found) return undefined;
        return { id: found.id, request: /** @type {any} */ (bridge.host.values.take(found.request)).request };
    }

    /**
     * Commits an answer in one transaction under the term's fence: it replaces the call by its answer, and
     * runs the writes of the handler. Does nothing if the call was withdrawn.
     *
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {Held} term
     * @param {string} call
     * @param {{ succeeded: boolean, result: object }} answer
     * @param {Writes[]} writes
     */
    async #answer(locks, term, call, { succeeded, result }, writes) {
        locks._access._assertOpen();
        term.assertHeld();
        const { _bridge: bridge } = locks;
        const { values } = bridge.host;
        const name = coreName(this.#name);
        const transaction = await leaderAnswering(bridge, name, call, term._id);
        if (!transaction) return;
        const answer = { succeeded, text: values.keep(result) };
        try {
            await transact(
                locks,
                transaction,
                writes.flatMap(({ stores }) => stores),
                async (tx) => {
                    for (const { write } of writes) await write(tx);
                },
                (all) => leaderAnswer(bridge, name, call, transaction, answer, all),
            );
        } finally {
            values.take(answer.text);
        }
    }
}
