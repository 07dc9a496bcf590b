import { invalid, TabacusError } from '../common/errors.js';
import { checkFunction } from '../common/check-arguments.js';
import { checkKey, checkStores, cloned } from './store-arguments.js';

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/**
 * A lock that was granted. It is released by `release()`, at the end of run()'s function, or by
 * `await using`.
 */
export class Held {
    #locks;
    #id;
    #limited;
    #released = false;

    /** Why it was lost. @type {TabacusError | undefined} */
    #loss;

    /** Made when somebody asks for it, which few do. @type {AbortController | undefined} */
    #lost;

    /** @type {((reason: TabacusError) => void)[]} */
    #listeners = [];

    /**
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {number} id
     * @param {{ name: string, mode: 'exclusive' | 'shared', label: string, token: number | null }} what
     * @param {boolean} limited whether it has a maxHold, its own or that of the lock it was entered through
     * @internal
     */
    constructor(locks, id, { name, mode, label, token }, limited) {
        this.#locks = locks;
        this.#id = id;
        this.#limited = limited;
        this.name = name;
        this.mode = mode;
        this.label = label;
        /** Rises with every exclusive grant of the name, for ever. Null of a shared lock. */
        this.token = token;
    }

    /**
     * @param {object} locks
     * @returns {boolean} whether it is held there
     * @internal
     */
    _isOf(locks) {
        return this.#locks === locks;
    }

    /** @internal */
    get _id() {
        return this.#id;
    }

    /**
     * Loses the lock if its maxHold is over: in a turn that takes longer, the timer is not due before the end.
     * @internal
     */
    _checkMaxHold() {
        if (this.#limited && !this.#released && !this.#loss) this.#locks._checkMaxHold(this.#id);
    }

    /** Whether it is neither released nor lost. */
    get held() {
        this._checkMaxHold();
        return !this.#released && !this.#loss;
    }

    /**
     * Aborts, with a TabacusError `lock-lost`, when the lock is lost before it is released: stolen,
     * held for longer than maxHold, or its page frozen or hidden.
     */
    get signal() {
        if (!this.#lost) {
            this.#lost = new AbortController();
            if (this.#loss) this.#lost.abort(this.#loss);
        }
        return this.#lost.signal;
    }

    /** @throws {TabacusError} `lock-lost` unless it is held */
    assertHeld() {
        this._checkMaxHold();
        if (this.#loss) throw this.#loss;
        if (this.#released)
            throw new TabacusError('lock-lost', `the lock "${this.name}" is already released`);
    }

    /** Releases the lock once commits under way have ended. Does nothing if it is not held. */
    release() {
        if (this.#released) return;
        this.#released = true;
        this.#locks._release(this.#id);
    }

    async [asyncDispose]() {
        this.release();
    }

    /**
     * Writes under the lock's fence: all of what `write` puts, in one IndexedDB transaction that is
     * committed only if no newer grant of this lock exists. Between the calls of `tx`, `write` may await
     * nothing else: the browser ends a transaction that has nothing to do, and what is written after that
     * is refused (`store-failed`).
     *
     * @template T
     * @param {string | string[]} stores names of your own; a key is in one store
     * @param {(tx: FencedTransaction) => T | Promise<T>} write if it throws, nothing is written
     * @returns {Promise<T>} what `write` returned, after the commit
     * @throws {TabacusError} `lock-lost`, `fenced`: nothing was written; `unavailable` of a shared lock or
     *   without IndexedDB; errors of the store
     * @example
     * await tab.lock('cart').run((held) =>
     *     held.commit('carts', async (tx) => tx.put('carts', 'mine', [...((await tx.get('carts', 'mine')) ?? []), 'pen'])),
     * );
     */
    async commit(stores, write) {
        const names = checkStores(stores);
        checkFunction('write', write);
        this.assertHeld();
        return this.#locks._commit(this.#id, names, write);
    }

    /**
     * @param {string | TabacusError} reason an error that is to be reported as it is, or in one word
     * @internal
     */
    _lose(reason) {
        if (this.#released || this.#loss) return;
        this.#loss =
            typeof reason === 'string'
                ? new TabacusError('lock-lost', `the lock "${this.name}" was lost: ${reason}`)
                : reason;
        this.#lost?.abort(this.#loss);
        for (const listener of this.#listeners) listener(this.#loss);
    }

    /**
     * @throws {TabacusError} why it was lost, if it was
     * @internal
     */
    _assertNotLost() {
        if (this.#loss) throw this.#loss;
    }

    /**
     * @param {(reason: TabacusError) => void} listener called once, when it is lost before it is released
     * @internal
     */
    _whenLost(listener) {
        if (this.#loss) listener(this.#loss);
        else this.#listeners.push(listener);
    }
}

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
