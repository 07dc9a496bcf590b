/** A thread's part in the reports of deaths: it announces itself to the page, which watches for its exit. */

import { agentFields, arenaFields } from '../arena-layout.js';
import { holdLivenessLock, threadNumber } from './worker-exit.web.js';

/**
 * Makes the page watch for the exit of this thread, as far as the platform reports that. The thread holds its
 * liveness lock before it announces itself.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 */
export async function joinMemory(core, livenessPrefix) {
    const release = await holdLivenessLock(livenessPrefix, core.id);
    if (release) core.releaseLivenessLock = release;
    core.watched = release !== undefined;
    const { words, agent, root } = core;
    const thread = threadNumber();
    if (!release && thread === 0) return; // nobody can notice the exit of this thread
    Atomics.store(words, (agent + agentFields.thread) >> 2, thread);
    Atomics.store(words, (agent + agentFields.announced) >> 2, core.id);
    const joined = (root + arenaFields.joined) >> 2;
    Atomics.add(words, joined, 1);
    Atomics.notify(words, joined);
}
