/** Detects the exit of a thread in Node: by the `exit` event of its Worker. */

import { threadId } from 'node:worker_threads';
import { exited, running } from './watch-workers.node.js';

/**
 * Returns Node's number of this thread. The first thread has the number 0; when it exits, all others exit,
 * too.
 */
export const threadNumber = () => threadId;

/**
 * Does nothing, because the number of a thread is sufficient to watch for its exit.
 *
 * @returns {Promise<(() => void) | undefined>}
 */
export const holdLivenessLock = async () => undefined;

/**
 * Calls `onExit` once the thread has exited; at once if it has exited already.
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
