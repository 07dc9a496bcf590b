/** Opens tabs in one process, for the tests of queues, locks and limits. */

import { open } from 'tabacus';
import { LockOrigin } from './fake-locks.js';
import { FakeOrigin } from './fake-origin.js';

/** @typedef {import('tabacus').Tab} Tab */

/**
 * @param {number} count
 * @param {object} [without]
 * @param {object} [options]
 */
export async function tabs(count, without = {}, options = {}) {
    const origin = new FakeOrigin();
    const locks = new LockOrigin();
    const windows = Array.from({ length: count }, (_, index) =>
        origin.window({ navigator: { locks: locks.manager(`client ${index}`) }, ...without }),
    );
    const opened = await Promise.all(windows.map((window) => open({ window, ...options })));
    // The tuple type has three tabs, but there are `count` of them.
    const all = /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (opened));
    /** Opens one more tab. @param {object} [also] further options */
    const another = (also = {}) =>
        open({
            window: origin.window({ navigator: { locks: locks.manager(`late ${Math.random()}`) }, ...also }),
        });
    return {
        origin,
        locks,
        windows,
        tabs: all,
        another,
        close: () => Promise.all(opened.map((tab) => tab.close())),
    };
}

/** Lets the other tabs run for a millisecond. */
export const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
