/** Fenced writes: transactions that are committed only while no newer grant of their lock exists. */

import { invalid, TabacusError } from '../common/errors.js';
import { fencedEnd, fencedGet, fencedList } from '../core/generated/locks.js';
import { checkKey, cloned } from './store-arguments.js';

/**
 * The transaction that held.commit() passes to its function. Reads see the writes of the same transaction.
 * Writes are collected here and are written together after the function has returned. Values are kept by
 * structured clone.
 */
export class FencedTransaction {
    #stores;
    #read;
    #list;

    /**
     * The collected writes, by store and key; null stands for a deletion.
     * @type {Map<string, Map<string, { value: unknown } | null>>}
     */
    #writes = new Map();

    #ended = false;

    /**
     * @param {string[]} stores
     * @param {(store: string, key: string) => Promise<unknown>} read
     * @param {(store: string, prefix: string) => Promise<[string, unknown][]>} list
     * @internal
     */
    constructor(stores, read, list) {
        this.#stores = stores;
        this.#read = read;
        this.#list = list;
    }

    /**
     * Reads the value of a key.
     *
     * @param {string} store one of the names that were passed to held.commit()
     * @param {string} key a well-formed string of at most 1024 UTF-16 units without U+0000
     * @returns {Promise<any>} the value, or undefined if the store does not have the key. Rejects with
     *   `invalid-argument`, with `closed` after the function has returned, or with an error of the store
     */
    async get(store, key) {
        const written = this.#of(store).get(checkKey('key', key));
        if (written === undefined) return this.#read(store, key);
        return written ? structuredClone(written.value) : undefined;
    }

    /**
     * Reads all keys that begin with `prefix`, and their values.
     *
     * @param {string} store one of the names that were passed to held.commit()
     * @param {string} [prefix] at most 1024 UTF-16 units; every key begins with the default, which is empty
     * @returns {Promise<[key: string, value: any][]>} in the order of the keys; rejects as get() does
     */
    async list(store, prefix = '') {
        const writes = this.#of(store);
        const all = new Map(await this.#list(store, checkKey('prefix', prefix)));
        for (const [key, written] of writes) {
            if (!key.startsWith(prefix)) continue;
            if (written) all.set(key, structuredClone(written.value));
            else all.delete(key);
        }
        return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
    }

    /**
     * Sets the value of a key.
     *
     * @param {string} store one of the names that were passed to held.commit()
     * @param {string} key a well-formed string of at most 1024 UTF-16 units without U+0000
     * @param {unknown} value any value but undefined that structuredClone() and IndexedDB accept. It is
     *   cloned at once: later changes of it are not written
     * @throws {TabacusError} `invalid-argument`; `closed` after the function has returned
     */
    put(store, key, value) {
        this.#of(store).set(checkKey('key', key), { value: cloned('value', value) });
    }

    /**
     * Deletes a key, if the store has it.
     *
     * @param {string} store one of the names that were passed to held.commit()
     * @param {string} key a well-formed string of at most 1024 UTF-16 units without U+0000
     * @throws {TabacusError} `invalid-argument`; `closed` after the function has returned
     */
    delete(store, key) {
        this.#of(store).set(checkKey('key', key), null);
    }

    /**
     * Ends the transaction, which then refuses all calls, and returns its writes.
     *
     * @param {(value: unknown) => string} keep keeps a value for the host, and returns its number
     * @returns {import('../core/generated/locks.js').FencedWrite[]}
     * @internal
     */
    _end(keep) {
        this.#ended = true;
        return [...this.#writes].flatMap(([store, rows]) =>
            [...rows].map(([key, written]) => ({ store, key, value: written && keep(written.value) })),
        );
    }

    /** Returns the collected writes to a store. @param {string} store */
    #of(store) {
        if (this.#ended)
            throw new TabacusError('closed', 'the transaction has ended: its function has returned');
        if (!this.#stores.includes(store)) throw invalid('store', store, `one of ${this.#stores.join(', ')}`);
        const writes = this.#writes.get(store) ?? new Map();
        this.#writes.set(store, writes);
        return writes;
    }
}

/**
 * Calls `write` with a transaction of the core, and commits what it has written there. If that fails, the
 * transaction ends.
 *
 * @template T
 * @param {import('./tab-locks.js').TabLocks} locks
 * @param {number} transaction
 * @param {string[]} stores
 * @param {(tx: FencedTransaction) => T | Promise<T>} write
 * @param {(writes: import('../core/generated/locks.js').FencedWrite[]) => Promise<void>} commit
 * @returns {Promise<T>} what `write` returned
 */
export async function transact(locks, transaction, stores, write, commit) {
    const { _access, _bridge: bridge } = locks;
    const { values } = bridge.host;
    /** @type {string[]} */
    const kept = [];
    try {
        const tx = new FencedTransaction(
            stores,
            async (store, key) => {
                const found = await fencedGet(bridge, transaction, store, key);
                return found === null ? undefined : values.take(found);
            },
            async (store, prefix) =>
                (await fencedList(bridge, transaction, store, prefix)).map(({ key, value }) => [
                    key,
                    values.take(value),
                ]),
        );
        const result = await write(tx);
        const writes = tx._end((value) => {
            kept.push(values.keep(value));
            return /** @type {string} */ (kept.at(-1));
        });
        await commit(writes);
        return result;
    } catch (error) {
        if (!_access._ended) fencedEnd(bridge, transaction);
        throw error;
    } finally {
        for (const number of kept) values.take(number);
    }
}
