/** How the page hears that a thread has died: Node says so. */

import { threadId } from 'node:worker_threads';
import { living } from './deaths-begin.node.js';

/** What the platform calls this thread; the first is 0, and its death is everybody's. */
export const threadNumber = () => threadId;

/** A thread's number is sign enough. @returns {Promise<(() => void) | undefined>} */
export const live = async () => undefined;

/**
 * @param {string} _life
 * @param {number} _id
 * @param {() => void} dead
 * @param {number} thread
 */
export function watch(_life, _id, dead, thread) {
    living.get(thread)?.push(dead);
}
