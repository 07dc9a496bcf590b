/** What an attaching thread needs for locks over tabs: loaded only where the memory was made with a tab. */

import { live } from '../exit/liveness-lock.js';
import { SharedTabLock } from './shared-tab-lock.js';

/**
 * Shows a sign of life until the attachment is closed.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {string} life
 */
export async function joinTabLocks(core, life) {
    const die = await live(life, core.id);
    core.watched = die !== undefined;
    if (die) core.ending.addEventListener('abort', die);
    return SharedTabLock;
}
