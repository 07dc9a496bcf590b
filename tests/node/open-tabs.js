/** Opens tabs in an origin of the emulator, for the tests of queues, locks and limits. */

import { open } from 'tabacus';
import { testOrigin } from './test-origin.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('./test-origin.js').TestOrigin} TestOrigin */

/**
 * @param {number} count
 * @param {Parameters<TestOrigin['window']>[0]} [replaced] properties that replace those of the windows
 * @param {object} [options] of open()
 * @param {import('tabacus/emulator').CreateOriginOptions} [how] options of the origin
 */
export async function tabs(count, replaced = {}, options = {}, how = {}) {
    const origin = await testOrigin(how);
    const windows = Array.from({ length: count }, () => origin.window(replaced));
    const opened = await Promise.all(windows.map((window) => open({ window, ...options })));
    // The tuple type has three tabs, but there are `count` of them.
    const all = /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (opened));
    return {
        origin,
        windows,
        tabs: all,
        /** Opens one more tab. @param {Parameters<TestOrigin['window']>[0]} [also] properties that replace those of its window */
        another: (also = {}) => open({ window: origin.window(also) }),
        close: () => Promise.all(opened.map((tab) => tab.close())),
        until: origin.until.bind(origin),
        sleep: origin.sleep.bind(origin),
    };
}
