/** What an attaching thread needs for locks over tabs: loaded only where the memory was made with a tab. */

import { holdLivenessLock } from '../exit/liveness-lock.js';
import { SharedTabLock } from './shared-tab-lock.js';

/**
 * Holds the thread's liveness lock until the attachment is closed.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 */
export async function joinTabLocks(core, livenessPrefix) {
    const release = await holdLivenessLock(livenessPrefix, core.id);
    core.watched = release !== undefined;
    if (release) core.ending.addEventListener('abort', release);
    return SharedTabLock;
}
