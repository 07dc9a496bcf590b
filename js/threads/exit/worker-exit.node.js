/** How the page learns that a thread has exited: from the `exit` event of its Worker. */

import { threadId } from 'node:worker_threads';
import { exited, running } from './watch-workers.node.js';

/** The platform's number for this thread. The first thread is 0; when it exits, all others do, too. */
export const threadNumber = () => threadId;

/** Does nothing: a thread's number is enough to watch for its exit. @returns {Promise<(() => void) | undefined>} */
export const holdLivenessLock = async () => undefined;

/**
 * Calls `onExit` once the thread has exited, at once if it has before.
 *
 * @param {string} _prefix
 * @param {number} _id
 * @param {() => void} onExit
 * @param {number} thread
 * @returns {() => void} stops watching
 */
export function watchExit(_prefix, _id, onExit, thread) {
    if (exited.has(thread)) onExit();
    const callbacks = running.get(thread);
    callbacks?.add(onExit);
    return () => void callbacks?.delete(onExit);
}
