import { invalid } from '../common/errors.js';
import { open } from '../tab/open.js';

/** @typedef {import('../tab/tab.js').Tab} Tab */

/**
 * Checks the option `tab`.
 *
 * @param {any} tab
 * @returns {Tab}
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 */
function checkTab(tab) {
    if (typeof tab?._acquire !== 'function')
        throw invalid('tab', tab, 'a tab that open() returned, or a promise of one');
    return tab;
}

/**
 * Returns a function that returns the tab of a replacement: that of the caller, or one that its first call
 * opens.
 *
 * @param {string} namespace
 * @param {Tab | Promise<Tab> | undefined} given
 * @returns {() => Promise<Tab>}
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
 */
export function lazyTab(namespace, given) {
    if (!given) {
        /** @type {Promise<Tab> | undefined} */
        let opened;
        return () => (opened ??= open({ namespace }));
    }
    if (!('then' in Object(given))) checkTab(given);
    return async () => checkTab(await given);
}
