import { TabacusError } from '../common/errors.js';
import { checkFunction } from '../common/check-arguments.js';
import { checkStores } from './store-arguments.js';

/** @type {typeof Symbol.asyncDispose} */
const asyncDispose = /** @type {any} */ (Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'));

/**
 * A granted lock. It is released by `release()`, at the end of the function that was passed to run(), or at
 * the end of the block of an `await using`.
 */
export class Held {
    #locks;
    #id;
    #limited;

    /** Why the lock was lost, if it was: an error, or the reason of a signal. @type {{ reason: unknown } | undefined} */
    #loss;

    /** The controller of `signal`. The first use of `signal` makes it, since few callers use it. @type {AbortController | undefined} */
    #lost;

    /** Undefined until there is one: few locks have any. @type {((reason: unknown) => void)[] | undefined} */
    #listeners;

    /** Called when the lock is released. @type {(() => void) | undefined} @internal */
    _released;

    /**
     * @param {import('./tab-locks.js').TabLocks} locks
     * @param {number} id
     * @param {{ name: string, mode: 'exclusive' | 'shared', label: string, token: number | null }} what
     * @param {boolean} limited whether it has a maxHold: its own, or that of the lock that it was entered
     *   through
     * @internal
     */
    constructor(locks, id, { name, mode, label, token }, limited) {
        this.#locks = locks;
        this.#id = id;
        this.#limited = limited;
        this.name = name;
        this.mode = mode;
        this.label = label;
        /**
         * The fencing token, greater than that of every earlier exclusive grant of the name; null for a
         * shared lock, and for one that was granted without a token (`fence: 'preferred'`).
         */
        this.token = token;
    }

    /**
     * Whether the lock was granted by `locks`.
     *
     * @param {object} locks
     * @returns {boolean}
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
     * Loses the lock if its maxHold is over. The core's timer does so, too, but it cannot run during a turn
     * of the event loop, which may take longer than maxHold.
     * @internal
     */
    _checkMaxHold() {
        if (this.#limited && this.#isKept()) this.#locks._checkMaxHold(this.#id);
    }

    #isKept() {
        return !this.#loss && this.#locks._holds(this.#id);
    }

    /** Whether the lock is neither released nor lost. */
    get held() {
        this._checkMaxHold();
        return this.#isKept();
    }

    /**
     * A signal that aborts if the lock is lost before it is released: with a TabacusError `lock-lost` if
     * another tab steals it, if it is held for longer than maxHold, or if the browser freezes the page or
     * puts it in the back/forward cache; with the reason of `releaseSignal` if that aborts.
     */
    get signal() {
        if (!this.#lost) {
            this.#lost = new AbortController();
            if (this.#loss) this.#lost.abort(this.#loss.reason);
        }
        return this.#lost.signal;
    }

    /**
     * Throws unless the lock is held.
     *
     * @throws {TabacusError} `lock-lost` if it is released or lost; the reason of `releaseSignal` if that has
     *   aborted
     */
    assertHeld() {
        this._checkMaxHold();
        this._assertNotLost();
        if (!this.#locks._holds(this.#id))
            throw new TabacusError('lock-lost', `the lock "${this.name}" is already released`);
    }

    /** Releases the lock once pending commits have ended. Does nothing if the lock is not held. */
    release() {
        this.#locks._release(this.#id);
    }

    async [asyncDispose]() {
        this.release();
    }

    /**
     * Writes under the lock's fence: everything that `write` puts is written in one IndexedDB transaction,
     * which is committed only if no newer grant of this lock exists. `write` may await the calls of `tx`, and
     * nothing else, because the browser ends a transaction that has nothing to do; the commit is then refused
     * with `store-failed`.
     *
     * @template T
     * @param {string | string[]} stores names of your own stores, each of at most 1024 UTF-16 units; names
     *   that begin with `tabacus/` are refused. Each store has keys of its own
     * @param {(tx: import('./fenced-transaction.js').FencedTransaction) => T | Promise<T>} write if it
     *   throws, nothing is written
     * @returns {Promise<T>} what `write` returned, after the commit. Rejects with what `write` throws; with
     *   `lock-lost` or `fenced`, if the lock was lost, and with the reason of `releaseSignal`, if that had
     *   aborted before (nothing is written then); with `unavailable` for a
     *   lock without a token, or without IndexedDB; with `invalid-argument`, or an error of the store. After
     *   `unknown-commit` it is not known whether the transaction was committed
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
     * Marks the lock as lost, and notifies whoever waits for that. Does nothing if the lock is not held.
     *
     * @param {string} why one word for a `lock-lost` error
     * @internal
     */
    _lose(why) {
        this._end(new TabacusError('lock-lost', `the lock "${this.name}" was lost: ${why}`));
    }

    /**
     * Marks the lock as lost for `reason`, and notifies the listeners.
     *
     * @param {unknown} reason an error, or the reason of a signal
     * @internal
     */
    _end(reason) {
        if (!this.#isKept()) return;
        this.#loss = { reason };
        this.#lost?.abort(reason);
        for (const listener of this.#listeners ?? []) listener(reason);
    }

    /**
     * Throws why the lock was lost, if it was. Does not throw if it was released.
     * @internal
     */
    _assertNotLost() {
        if (this.#loss) throw this.#loss.reason;
    }

    /**
     * Calls a listener, once, if the lock is lost before it is released.
     *
     * @param {(reason: any) => void} listener
     * @internal
     */
    _whenLost(listener) {
        if (this.#loss) listener(this.#loss.reason);
        else (this.#listeners ??= []).push(listener);
    }
}
