import { checkFunction, checkOptions } from '../common/check-arguments.js';

/**
 * A value that a user interface shows at once, while its mutations reach the server one after another, over
 * all tabs (optimistic updates). `tab.serial(name, initial)` returns it.
 *
 * While mutations are pending, the value shown is that of the latest pending call of set(). Otherwise it is
 * that of the latest call that succeeded, or `initial` if none did.
 *
 * @template T
 * @example
 * const liked = tab.serial('liked', false);
 * liked.subscribe((value) => (button.ariaPressed = String(value)));
 * button.onclick = () => liked.set(!liked.value, (value, { signal }) => fetch('/like', { method: value ? 'PUT' : 'DELETE', signal }));
 */
export class Serial {
    #lock;
    #tab;

    /** The value of the latest mutation that succeeded. @type {T} */
    #settled;

    /** The mutations that have not ended, in the order of their calls. @type {{ value: T }[]} */
    #pending = [];

    /** The number of the call of set() that set the settled value; 0 for the initial value. */
    #settledAt = 0;

    /** The number of calls of set(). */
    #begun = 0;

    /** @type {Set<{ listener: (value: T, pending: number) => void }>} */
    #listeners = new Set();

    /**
     * @param {string} name
     * @param {T} initial
     * @param {import('./lock.js').Lock} lock
     * @param {import('../tab/tab.js').Tab} tab
     * @internal
     */
    constructor(name, initial, lock, tab) {
        this.name = name;
        this.#settled = initial;
        this.#lock = lock;
        this.#tab = tab;
    }

    /** The value to show. @returns {T} */
    get value() {
        const last = this.#pending[this.#pending.length - 1];
        return last ? last.value : this.#settled;
    }

    /** The number of mutations that have not ended. */
    get pending() {
        return this.#pending.length;
    }

    /**
     * Shows `value` at once, and runs `mutate` when all earlier mutations have ended, in all tabs.
     *
     * @template R
     * @param {T} value
     * @param {(value: T, held: import('./held.js').Held) => R | Promise<R>} mutate runs under the lock
     *   `serial/<name>`
     * @param {Omit<import('./lock-options.js').LockOptions, 'mode' | 'ifAvailable' | 'steal' | 'fence'>} [options] of
     *   the request for that lock
     * @returns {Promise<R>} what `mutate` returns. Rejects with what `mutate` throws, with
     *   `invalid-argument`, or as Lock.run() does. If it rejects, `value` is not shown any more
     */
    async set(value, mutate, options = {}) {
        checkFunction('mutate', mutate);
        checkOptions(options, ['signal', 'releaseSignal', 'timeout', 'maxHold', 'label', 'within']);
        const own = { value };
        const begun = ++this.#begun;
        this.#pending.push(own);
        this.#notify();
        try {
            const result = await this.#lock.run((held) => mutate(value, held), options);
            if (begun > this.#settledAt) [this.#settled, this.#settledAt] = [value, begun];
            return result;
        } finally {
            this.#pending.splice(this.#pending.indexOf(own), 1);
            this.#notify();
        }
    }

    /**
     * Calls `listener` with the value and the number of pending mutations: at once, and whenever one of them
     * may have changed. An exception of `listener` is reported as an `error` event of the window.
     *
     * @param {(value: T, pending: number) => void} listener
     * @returns {() => void} ends the subscription
     * @throws {import('../common/errors.js').TabacusError} `invalid-argument` if `listener` is no function
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        const own = { listener }; // a new object, because one function may be subscribed twice
        this.#listeners.add(own);
        this.#call(own);
        return () => void this.#listeners.delete(own);
    }

    #notify() {
        for (const own of [...this.#listeners]) this.#call(own);
    }

    /** Calls a listener. @param {{ listener: (value: T, pending: number) => void }} own */
    #call({ listener }) {
        try {
            listener(this.value, this.pending);
        } catch (error) {
            this.#tab._report(error);
        }
    }
}
