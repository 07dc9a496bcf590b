/**
 * Calls to a leader that outlive it, as JavaScript has them: requests, handlers and answers. What is kept of
 * them, and when, is wasm/include/tabacus/lock/leader.hpp's.
 */

import { checkFunction, checkOptions, checkSignal, checkTimeout } from '../common/check-arguments.js';
import { cloneError, unlessAborted } from './outcome.js';
import { checkKey, checkStores, cloned } from './store-arguments.js';

/** @typedef {import('./held.js').Held} Held */
/** @typedef {(tx: import('./held.js').FencedTransaction) => unknown} Write */
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
     * @param {() => Promise<import('./tab-locks.js').TabLocks>} locks
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
        const key = options.key === undefined ? undefined : checkKey('key', options.key);
        const signal = checkSignal(options.signal);
        const timeout = checkTimeout(options.timeout);
        const kept = { request: request === undefined ? undefined : cloned('request', request) };
        return (await this.#locks()).callLeader(this.#name, kept, { key, signal, timeout });
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
        const locks = await this.#locks();
        await locks.beginTerm(this.#name, term);
        for (;;) {
            const next = await locks.nextCall(this.#name, term);
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
            locks.answerCall(this.#name, term, call.id, { succeeded, result }, writes);
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
}
