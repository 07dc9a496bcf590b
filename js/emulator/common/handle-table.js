/** A table of values by number. A number is used again once its value has been taken. */

/**
 * Used instead of a Map: a Map that is emptied again and again makes a new table each time, which takes as long as all
 * other work for a lock.
 *
 * @template Value
 */
export class HandleTable {
    /** @type {(Value | undefined)[]} */
    #values = [];
    /** @type {number[]} */
    #free = [];

    /** @param {Value} value @returns {number} from 1 on */
    add(value) {
        const number = this.#free.pop() ?? this.#values.length + 1;
        this.#values[number - 1] = value;
        return number;
    }

    /** @param {number} number */
    get(number) {
        return this.#values[number - 1];
    }

    /** The values, each without its number. @returns {Value[]} */
    get values() {
        return this.#values.filter((value) => value !== undefined);
    }

    /** @param {number} number */
    take(number) {
        const value = this.#values[number - 1];
        if (value === undefined) return undefined;
        this.#values[number - 1] = undefined;
        this.#free.push(number);
        return value;
    }
}
