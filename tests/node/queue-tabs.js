/** Opens tabs in one process, for the tests of queues. */

import { open, TabacusError } from 'tabacus';
import { LockOrigin } from './fake-locks.js';
import { FakeOrigin } from './fake-origin.js';

/** @typedef {import('tabacus').Tab} Tab */

/** @param {string} code */
export const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/**
 * @param {number} count
 * @param {object} [without]
 */
export async function tabs(count, without = {}) {
    const origin = new FakeOrigin();
    const locks = new LockOrigin();
    const windows = Array.from({ length: count }, (_, index) =>
        origin.window({ navigator: { locks: locks.manager(`client ${index}`) }, ...without }),
    );
    const opened = await Promise.all(windows.map((window) => open({ window })));
    // The tuple type has three tabs, but there are `count` of them.
    const all = /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (opened));
    return { origin, locks, windows, tabs: all, close: () => Promise.all(opened.map((tab) => tab.close())) };
}
