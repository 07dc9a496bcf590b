/** The container behind a Storage object. It is a file of its own because it needs no types of the DOM. */

/**
 * The container behind a Storage object. Its keys and values are strings.
 *
 * @typedef {object} Items
 * @property {(key: string) => string | null} get
 * @property {() => string[]} keys returns them in the same order until a key is added or removed
 * @property {(key: string, value: string) => void} set throws what setItem() throws
 * @property {(key: string) => void} remove
 * @property {() => void} clear
 */

export {};
