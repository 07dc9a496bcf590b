/**
 * JavaScript values that pass through the core. The core does not see a value, but only its number, written
 * as a text. So the values of an application are stored by structured clone, and not as text.
 */
export class Values {
    #last = 0;

    /** @type {Map<string, unknown>} */
    #kept = new Map();

    /**
     * Keeps a value until it is taken.
     *
     * @param {unknown} value
     * @returns {string} its number
     */
    keep(value) {
        const number = String(++this.#last);
        this.#kept.set(number, value);
        return number;
    }

    /** Returns a value. @param {string} number */
    get(number) {
        return this.#kept.get(number);
    }

    /** Removes a value, and returns it. @param {string} number */
    take(number) {
        const value = this.#kept.get(number);
        this.#kept.delete(number);
        return value;
    }
}
