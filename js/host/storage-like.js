/**
 * The Storage interface (HTML §12.2.1), also where the types of the DOM are not loaded, as in a Worker's program.
 *
 * @typedef {{
 *     readonly length: number,
 *     key(index: number): string | null,
 *     getItem(key: string): string | null,
 *     setItem(key: string, value: string): void,
 *     removeItem(key: string): void,
 *     clear(): void,
 *     [name: string]: any,
 * }} StorageLike
 */

export {};
