import { checkFunction, checkOptions } from '../common/check-arguments.js';

/**
 * A value that the interface shows at once while its mutations reach the server one after another, over
 * all tabs (optimistic updates). Made by `tab.serial(name, initial)`.
 *
 * It shows the last value set that has not failed; when none is under way, the last that succeeded.
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

    /** @type {T} */
    #settled;

    /** The mutations that have not ended, in the order of their calls. @type {{ value: T }[]} */
    #pending = [];

    /** How many mutations had begun when the settled value's did. */
    #settledAt = 0;
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

    /** What the interface shows. @returns {T} */
    get value() {
        const last = this.#pending[this.#pending.length - 1];
        return last ? last.value : this.#settled;
    }

    /** How many mutations have not ended. */
    get pending() {
        return this.#pending.length;
    }

    /**
     * Shows `value` now, and runs `mutate` when those before it have ended.
     *
     * @template R
     * @param {T} value
     * @param {(value: T, held: import('./held.js').Held) => R | Promise<R>} mutate
     * @param {Omit<import('./lock-options.js').LockOptions, 'mode' | 'ifAvailable' | 'steal'>} [options] of the wait
     * @returns {Promise<R>} what `mutate` returns. When it rejects, the value is not shown any more
     */
    async set(value, mutate, options = {}) {
        checkFunction('mutate', mutate);
        checkOptions(options, ['signal', 'timeout', 'maxHold', 'label', 'within']);
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
     * Calls `listener` at once, and whenever what is shown or how much is pending may have changed.
     *
     * @param {(value: T, pending: number) => void} listener
     * @returns {() => void} ends it
     */
    subscribe(listener) {
        checkFunction('listener', listener);
        const own = { listener }; // the same function may be given twice
        this.#listeners.add(own);
        this.#call(own);
        return () => void this.#listeners.delete(own);
    }

    #notify() {
        for (const own of [...this.#listeners]) this.#call(own);
    }

    /** @param {{ listener: (value: T, pending: number) => void }} own */
    #call({ listener }) {
        try {
            listener(this.value, this.pending);
        } catch (error) {
            this.#tab._report(error);
        }
    }
}
