/**
 * The Storage interface (HTML §12.2.1). It is declared here for programs that are compiled without the types
 * of the DOM, such as a Worker's.
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
