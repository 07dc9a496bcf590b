/**
 * Calls to a leader that outlive it: a call is a row, from when it is made until it is answered.
 *
 * Rows are written under the lock `leader/<name>/calls`, whose tokens are their order, and answered by one
 * transaction of the leader's term, in which the row becomes its answer. So of all leaders that run a call
 * one commits, and none that was deposed.
 */

import { invalid, TabacusError } from '../errors.js';
import { checkOptions, checkSignal, checkTimeout } from '../shared/check.js';
import { saidOf, unlessAborted, valueOf } from './outcome.js';
import { checkKey, checkStore, cloned } from './options.js';

/** @typedef {import('./held.js').Held} Held */
/** @typedef {import('./held.js').FencedTransaction} FencedTransaction */
/** @typedef {{ succeeded: boolean, said: any, at: number }} Answer */
/** @typedef {{ version: number, request?: unknown, key?: string, answer?: Answer }} Row */
/** @typedef {(tx: FencedTransaction) => unknown} Write */

/** A hung tab holds the others up for no longer. */
const maxHold = 5_000;

/** How long an answer that nobody took, or that has a key, is kept. */
const keptMs = 3_600_000;

/** A message that was lost delays a call or its answer by no more. */
const lookAgainMs = 1_000;

/** Of the rows: those of another are left alone. */
const version = 1;

/**
 * @param {any} value
 * @returns {Row | undefined} nothing of what is no call, or another version's
 */
function rowOf(value) {
    if (typeof value !== 'object' || value === null || value.version !== version) return undefined;
    const { key, answer } = value;
    if (key !== undefined && typeof key !== 'string') return undefined;
    const { succeeded, said, at } = Object(answer);
    const good = typeof succeeded === 'boolean' && typeof said === 'object' && said !== null && typeof at === 'number';
    return answer === undefined || good ? value : undefined;
}

/** What a handler of Term.answer() is given of a call. */
export class LeaderCall {
    /** @type {{ stores: string[], write: Write }[]} */
    #writes = [];

    /**
     * @param {string} id
     * @param {number} term
     * @param {AbortSignal} signal
     * @internal
     */
    constructor(id, term, signal) {
        /** The same of the same call by every leader that runs it: for what must not happen twice elsewhere. */
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
        const names = typeof stores === 'string' ? [stores] : stores;
        if (!Array.isArray(names) || names.length === 0) throw invalid('stores', stores, 'a name or an array of names');
        for (const name of names) checkStore(name);
        if (typeof write !== 'function') throw invalid('write', write, 'a function');
        this.#writes.push({ stores: names, write });
    }

    /** @internal */
    get _writes() {
        return this.#writes;
    }
}

export class LeaderCalls {
    #lock;
    #store;
    #locks;

    /**
     * @param {string} name
     * @param {() => Promise<import('./locks.js').Locks>} locks
     */
    constructor(name, locks) {
        this.#lock = `leader/${name}/calls`;
        this.#store = `tabacus/${this.#lock}`;
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
        const row = { version, request: request === undefined ? undefined : cloned('request', request), key };
        const locks = await this.#locks();
        signal?.throwIfAborted();
        const { ended, dispose } = locks.limit(signal, timeout);
        try {
            const id = await this.#keep(locks, row, ended);
            const answer = await this.#answered(locks, id, ended);
            if (key === undefined) await this.#change(locks, async (tx) => tx.delete(this.#store, id));
            return valueOf(answer.succeeded, answer.said);
        } finally {
            dispose();
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
        if (typeof handler !== 'function') throw invalid('handler', handler, 'a function');
        const locks = await this.#locks();
        const unreadable = await term._commit([this.#store], (tx) => this.#tidy(tx));
        if (unreadable > 0) {
            const message = `${unreadable} rows among the calls to a leader cannot be read; all others are answered.`;
            locks.warn({ lost: false, code: 'corrupt-record', message, previous: '', subject: this.#lock, healed: 0 });
        }
        try {
            await locks.look(this.#lock, lookAgainMs, term.signal, async () => {
                while (term.held) {
                    const next = await this.#next(term);
                    if (!next) return undefined;
                    await this.#run(term, next, handler);
                }
                return true;
            });
        } catch (error) {
            const handedOver = !term.held && !term.signal.aborted;
            if (!handedOver) throw error;
        }
    }

    /**
     * The row of a call, in the order of the tokens.
     *
     * @param {import('./locks.js').Locks} locks
     * @param {Row} row
     * @param {AbortSignal} signal
     * @returns {Promise<string>}
     */
    async #keep(locks, row, signal) {
        const [held] = await locks.acquire([this.#lock], { signal, maxHold });
        if (!held) throw new TabacusError('unavailable', 'the lock was not granted');
        const id = String(held.token).padStart(16, '0');
        try {
            return await held._commit([this.#store], async (tx) => {
                const rows = row.key === undefined ? [] : await tx.list(this.#store);
                const same = rows.find(([, value]) => row.key !== undefined && rowOf(value)?.key === row.key);
                if (!same) tx.put(this.#store, id, row);
                return same ? same[0] : id;
            });
        } finally {
            held.release();
        }
    }

    /**
     * Until the row is its answer. A call that is given up is taken back, unless it was answered meanwhile.
     *
     * @param {import('./locks.js').Locks} locks
     * @param {string} id
     * @param {AbortSignal} signal
     * @returns {Promise<Answer>}
     */
    async #answered(locks, id, signal) {
        try {
            return await locks.look(this.#lock, lookAgainMs, signal, async () => {
                const row = rowOf(await locks.read(this.#store, id));
                if (!row) throw new TabacusError('unknown-commit', 'the call is gone with the database that kept it');
                return row.answer;
            });
        } catch (error) {
            if (!signal.aborted) throw error;
            const answer = await this.#change(locks, async (tx) => {
                const row = rowOf(await tx.get(this.#store, id));
                if (!row?.answer && row?.key === undefined) tx.delete(this.#store, id);
                return row?.answer;
            });
            if (answer) return answer;
            throw signal.reason;
        }
    }

    /**
     * @template T
     * @param {import('./locks.js').Locks} locks
     * @param {(tx: FencedTransaction) => Promise<T>} write
     * @returns {Promise<T>}
     */
    async #change(locks, write) {
        return locks.run([this.#lock], (held) => held._commit([this.#store], write), { maxHold }, false);
    }

    /** @param {FencedTransaction} tx @returns {Promise<number>} how many rows cannot be read */
    async #tidy(tx) {
        const oldest = Date.now() - keptMs;
        let unreadable = 0;
        for (const [id, value] of await tx.list(this.#store)) {
            const row = rowOf(value);
            if (!row) unreadable++;
            else if (row.answer && row.answer.at < oldest) tx.delete(this.#store, id);
        }
        return unreadable;
    }

    /**
     * @param {Held} term
     * @returns {Promise<[id: string, row: Row] | undefined>} the first that has no answer
     */
    #next(term) {
        return term._commit([this.#store], async (tx) => {
            for (const [id, value] of await tx.list(this.#store)) {
                const row = rowOf(value);
                if (row && !row.answer) return [id, row];
            }
            return undefined;
        });
    }

    /**
     * @param {Held} term
     * @param {[id: string, row: Row]} next
     * @param {(request: any, call: LeaderCall) => unknown} handler
     */
    async #run(term, [id, { request }], handler) {
        const call = new LeaderCall(id, /** @type {number} */ (term.token), term.signal);
        /** @type {{ succeeded: boolean, said: any }} */
        let outcome;
        try {
            const value = await unlessAborted(term, () => handler(request, call));
            if (value !== undefined) cloned('value', value);
            outcome = { succeeded: true, said: { value } };
            await this.#settle(term, id, outcome, call._writes);
        } catch (error) {
            term.assertHeld();
            await this.#settle(term, id, { succeeded: false, said: saidOf(error) }, []);
        }
        (await this.#locks()).ring(this.#lock);
    }

    /**
     * One transaction, under the term's fence: the answer in place of the call, and what goes with it. Of a
     * call that was taken back, nothing.
     *
     * @param {Held} term
     * @param {string} id
     * @param {{ succeeded: boolean, said: any }} outcome
     * @param {{ stores: string[], write: Write }[]} writes
     */
    async #settle(term, id, outcome, writes) {
        const stores = new Set([this.#store, ...writes.flatMap((one) => one.stores)]);
        await term._commit([...stores], async (tx) => {
            const row = rowOf(await tx.get(this.#store, id));
            if (!row || row.answer) return;
            for (const { write } of writes) await write(tx);
            tx.put(this.#store, id, { version, key: row.key, answer: { ...outcome, at: Date.now() } });
        });
    }
}
