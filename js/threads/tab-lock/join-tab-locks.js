/**
 * The code that a thread needs to attach to a memory with locks and counters over tabs. It is only loaded if the
 * memory was made with a tab.
 */

import { holdLivenessLock } from '../exit/liveness-lock.js';
import { SharedTabCounter } from '../tab-counter/shared-tab-counter.js';
import { SharedTabLock } from './shared-tab-lock.js';

/**
 * Makes this thread hold its liveness lock until the attachment is closed, and returns the classes of its
 * locks and counters over tabs.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 */
export async function joinTabLocks(core, livenessPrefix) {
    if (!core.watched) {
        const release = await holdLivenessLock(livenessPrefix, core.id);
        core.watched = release !== undefined;
        if (release) core.releaseLivenessLock = release;
    }
    return { SharedTabLock, SharedTabCounter };
}
