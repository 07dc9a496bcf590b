/** What is written under the fence of a lock. */

import { invalid, TabacusError } from '../common/errors.js';
import { fencedGet, fencedList } from '../core/generated/locks.js';
import { checkKey, cloned } from './store-arguments.js';

/** What held.commit() hands to its function. Values are kept by structured clone. */
export class FencedTransaction {
    #stores;
    #read;
    #list;

    /**
     * What shall be written; null is to be deleted.
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
     * @param {string} store
     * @param {string} key
     * @returns {Promise<any>} undefined of nothing
     */
    async get(store, key) {
        const written = this.#of(store).get(checkKey('key', key));
        if (written === undefined) return this.#read(store, key);
        return written ? structuredClone(written.value) : undefined;
    }

    /**
     * @param {string} store
     * @param {string} [prefix]
     * @returns {Promise<[key: string, value: any][]>} in order of key
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
     * @param {string} store
     * @param {string} key
     * @param {unknown} value anything but undefined that can be cloned; as it is when put() is called
     */
    put(store, key, value) {
        this.#of(store).set(checkKey('key', key), { value: cloned('value', value) });
    }

    /**
     * @param {string} store
     * @param {string} key
     */
    delete(store, key) {
        this.#of(store).set(checkKey('key', key), null);
    }

    /**
     * Takes nothing more, and returns what shall be written.
     *
     * @param {(value: unknown) => string} keep
     * @returns {import('../core/generated/locks.js').FencedWrite[]}
     * @internal
     */
    _end(keep) {
        this.#ended = true;
        return [...this.#writes].flatMap(([store, rows]) =>
            [...rows].map(([key, written]) => ({ store, key, value: written && keep(written.value) })),
        );
    }

    /** @param {string} store */
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
 * Lets `write` read and write in a transaction, and commits what it wrote.
 *
 * @template T
 * @param {import('../core/bridge.js').Bridge} bridge
 * @param {number} transaction
 * @param {string[]} stores
 * @param {(tx: FencedTransaction) => T | Promise<T>} write
 * @param {(writes: import('../core/generated/locks.js').FencedWrite[]) => Promise<void>} commit
 * @returns {Promise<T>} what `write` returned
 */
export async function transact(bridge, transaction, stores, write, commit) {
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
    } finally {
        for (const number of kept) values.take(number);
    }
}
