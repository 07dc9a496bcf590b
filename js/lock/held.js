import { TabacusError } from '../common/errors.js';
import { checkFunction } from '../common/check-arguments.js';
import { checkStores } from './store-arguments.js';

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
        if (this.#limited && this.#isKept()) this.#locks._checkMaxHold(this.#id);
    }

    #isKept() {
        return !this.#loss && this.#locks._holds(this.#id);
    }

    /** Whether it is neither released nor lost. */
    get held() {
        this._checkMaxHold();
        return this.#isKept();
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
        if (!this.#locks._holds(this.#id))
            throw new TabacusError('lock-lost', `the lock "${this.name}" is already released`);
    }

    /** Releases the lock once commits under way have ended. Does nothing if it is not held. */
    release() {
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
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write if it throws, nothing is written
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
        if (!this.#isKept()) return;
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
