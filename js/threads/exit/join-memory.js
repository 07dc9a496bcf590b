/** A thread's part in the reports of deaths: it enters the memory in such a way that the page notices its exit. */

import { arenaFields, unwatchedClaim } from '../arena-layout.js';
import { ThreadCore } from '../thread-core.js';
import { holdLivenessLock, threadNumber } from './worker-exit.web.js';

/**
 * Attaches this thread to a memory. The page notices the exit of this thread, as far as the platform reports that,
 * from before the thread takes a slot: where threads have numbers, the slot is claimed by the thread's number; in
 * browsers by its id, after the thread has acquired the liveness lock of that id.
 *
 * @param {import('../thread-core.js').AttachExports} exports
 * @param {import('../handle.js').SharedHandle} handle
 * @throws {import('../../common/errors.js').TabacusError} `out-of-memory`
 */
export async function joinMemory(exports, { memory, root, livenessPrefix }) {
    const id = exports.agent_id(root);
    const release = await holdLivenessLock(livenessPrefix, id);
    const claim = release ? id : threadNumber() || unwatchedClaim;
    try {
        const core = new ThreadCore(exports, memory, root, id, claim);
        core.watched = release !== undefined;
        if (release) core.releaseLivenessLock = release;
        return core;
    } catch (error) {
        release?.();
        throw error;
    } finally {
        // If there was no slot, the page looks again for slots of threads that died as they took them.
        const words = new Int32Array(memory.buffer);
        const joined = (root + arenaFields.joined) >> 2;
        Atomics.add(words, joined, 1);
        Atomics.notify(words, joined);
    }
}
