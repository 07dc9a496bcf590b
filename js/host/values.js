/**
 * JavaScript values that the core passes on and never sees: it knows each by a number, as a text. What
 * an application writes under a lock's fence is thus kept as IndexedDB keeps it, by structured clone.
 */
export class Values {
    #last = 0;

    /** @type {Map<string, unknown>} */
    #kept = new Map();

    /**
     * @param {unknown} value
     * @returns {string} its number, until it is taken
     */
    keep(value) {
        const number = String(++this.#last);
        this.#kept.set(number, value);
        return number;
    }

    /** @param {string} number */
    get(number) {
        return this.#kept.get(number);
    }

    /** @param {string} number */
    take(number) {
        const value = this.#kept.get(number);
        this.#kept.delete(number);
        return value;
    }
}
