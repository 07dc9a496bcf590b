import { open } from '../tab/open.js';

/**
 * The tab that a replacement works on: the caller's, or one of its own, opened when it is first used.
 *
 * @param {string} namespace
 * @param {import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab> | undefined} given
 * @returns {() => Promise<import('../tab/tab.js').Tab>}
 */
export function opener(namespace, given) {
    /** @type {Promise<import('../tab/tab.js').Tab> | undefined} */
    let opened;
    return () => (opened ??= given ? Promise.resolve(given) : open({ namespace }));
}
