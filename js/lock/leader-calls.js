/**
 * Calls to a leader that outlive it, as JavaScript has them: requests, handlers and answers. What is kept of
 * them, and when, is wasm/include/tabacus/lock/leader.hpp's.
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
import { coreName } from './names.js';
import { cloneError, unlessAborted, unwrapOutcome } from './outcome.js';
import { checkKey, checkStores, cloned } from './store-arguments.js';

/** @typedef {import('./held.js').Held} Held */
/** @typedef {(tx: import('./fenced-transaction.js').FencedTransaction) => unknown} Write */
/** @typedef {{ stores: string[], write: Write }} Writes */

/** What a handler of Term.answer() is given of a call. */
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
        /** The call's identifier, whichever leader runs it: for what must not happen twice elsewhere. */
        this.id = id;
        /** The number of the term that it runs in. */
        this.term = term;
        /** Aborts when the term is lost: another leader runs the call then. */
        this.signal = signal;
    }

    /**
     * `write` runs in the transaction that commits the answer: what it writes is kept exactly once, with the
     * answer, or not at all.
     *
     * @param {string | string[]} stores
     * @param {Write} write as of Held.commit()
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
     * @param {unknown} request
     * @param {unknown} given
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
     * @param {object} kept the request
     * @param {import('../core/generated/locks.js').LeaderCallOptions} options
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<any>} what the leader answers
     */
    async #call(kept, options, signal) {
        const locks = this.#locks;
        locks._assertAsked();
        await locks._loadLeader();
        locks._assertOpen();
        locks._assertStore('calls');
        const { _bridge: bridge } = locks;
        const { values } = bridge.host;
        const name = locks._name(this.#name);
        const call = values.keep(kept);
        try {
            const answer = await locks._wait(
                signal,
                (request) => leaderCall(bridge, name, call, options, request),
                (one) => one,
            );
            return unwrapOutcome(answer.succeeded, values.take(answer.text));
        } finally {
            values.take(call);
        }
    }

    /**
     * Answers what was called, and what is called, in its order, until the term ends.
     *
     * @template T
     * @param {Held} term
     * @param {(request: any, call: LeaderCall) => T | Promise<T>} handler
     */
    async answer(term, handler) {
        checkFunction('handler', handler);
        const locks = this.#locks;
        locks._assertAsked();
        await locks._loadLeader();
        locks._assertOpen();
        locks._assertStore('calls');
        term.assertHeld();
        await leaderBegin(locks._bridge, locks._name(this.#name), term._id);
        for (;;) {
            const next = await this.#next(locks, term);
            if (!next) return;
            const call = new LeaderCall(next.id, /** @type {number} */ (term.token), term.signal);
            const handedOver = await this.#run(locks, term, call, () => handler(next.request, call));
            if (handedOver) return;
        }
    }

    /**
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
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {Held} term
     * @returns {Promise<{ id: string, request: unknown } | undefined>} undefined: it was handed over
     */
    async #next(locks, term) {
        locks._assertOpen();
        const { _bridge: bridge } = locks;
        const found = await leaderNext(bridge, coreName(this.#name), term._id);
        if (!found) return undefined;
        return { id: found.id, request: /** @type {any} */ (bridge.host.values.take(found.request)).request };
    }

    /**
     * One transaction, under the term's fence: the answer in place of the call, and what goes with it. Of a
     * call that was taken back, nothing.
     *
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {Held} term
     * @param {string} call
     * @param {{ succeeded: boolean, result: object }} answer
     * @param {Writes[]} writes
     */
    async #answer(locks, term, call, { succeeded, result }, writes) {
        locks._assertOpen();
        term.assertHeld();
        const { _bridge: bridge } = locks;
        const { values } = bridge.host;
        const name = coreName(this.#name);
        const transaction = await leaderAnswering(bridge, name, call, term._id);
        if (!transaction) return;
        const answer = { succeeded, text: values.keep(result) };
        try {
            await locks._transact(
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
