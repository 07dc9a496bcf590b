/**
 * The code that a thread needs to attach to a memory with locks over tabs. It is only loaded if there is such
 * a memory.
 */

import { holdLivenessLock } from '../exit/liveness-lock.js';
import { SharedTabLock } from './shared-tab-lock.js';

/**
 * Makes this thread hold its liveness lock until the attachment is closed, and returns the class of its locks
 * over tabs.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 */
export async function joinTabLocks(core, livenessPrefix) {
    if (!core.watched) {
        const release = await holdLivenessLock(livenessPrefix, core.id);
        core.watched = release !== undefined;
        if (release) core.ending.addEventListener('abort', release);
    }
    return SharedTabLock;
}
