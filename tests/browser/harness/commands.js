/** Calls into the page under test. */

/** @typedef {import('../page/page.js').Commands} Commands */
/** @typedef {import('../page/threads.js').ThreadsCommands} ThreadsCommands */
/** @typedef {import('./tab.js').Tab} Tab */

/**
 * @template {keyof Commands} K
 * @param {Tab} tab
 * @param {K} name
 * @param {Parameters<Commands[K]>} args
 * @returns {Promise<Awaited<ReturnType<Commands[K]>>>}
 */
export const call = (tab, name, ...args) => tab.evaluate(callPage, name, args);

/**
 * @template {keyof ThreadsCommands} K
 * @param {Tab} tab
 * @param {K} name
 * @param {Parameters<ThreadsCommands[K]>} args
 * @returns {Promise<Awaited<ReturnType<ThreadsCommands[K]>>>}
 */
export const callThreads = (tab, name, ...args) => tab.evaluate(callPage, name, args);

/**
 * Calls a command of the page. Runs in the page.
 *
 * @param {string} name
 * @param {unknown[]} args
 * @returns {any}
 */
const callPage = (name, args) => /** @type {any} */ (globalThis).page[name](...args);
