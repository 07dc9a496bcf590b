/** How the page hears that a thread has died: Node says so. */

import { threadId } from 'node:worker_threads';
import { ended, living } from './watch-workers.node.js';

/** What the platform calls this thread; the first is 0, and its death is everybody's. */
export const threadNumber = () => threadId;

/** A thread's number is sign enough. @returns {Promise<(() => void) | undefined>} */
export const live = async () => undefined;

/**
 * @param {string} _life
 * @param {number} _id
 * @param {() => void} dead
 * @param {number} thread
 * @returns {() => void} watches no more
 */
export function watch(_life, _id, dead, thread) {
    if (ended.has(thread)) dead();
    const ends = living.get(thread);
    ends?.add(dead);
    return () => void ends?.delete(dead);
}
